/** The Helm chart, linted and rendered by helm itself. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'

const chart = fileURLToPath(new URL('../../packaging/helm/holdfast', import.meta.url))
const helm = process.env.HOLDFAST_HELM ?? 'helm'
const isInstalled = spawnSync(helm, ['version'], { stdio: 'ignore' }).status === 0

const gateways = {
  mode: 'gateways',
  'gateways.databaseSecret': 'database',
  'gateways.keyRingSecret': 'ring',
  'rootKey.existingSecret': 'root',
  config: 'defaultLocation = "safe"',
}

const flags = (values: Record<string, string>): string[] =>
  Object.entries(values).flatMap(([name, value]) => ['--set-string', `${name}=${value.replaceAll(',', '\\,')}`])

const reference = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) })
const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string(), scheme: z.string() }) })
const workload = z.looseObject({
  spec: z.looseObject({
    replicas: z.number(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    volumeClaimTemplates: z.array(z.looseObject({ metadata: z.looseObject({ name: z.string() }) })).optional(),
    template: z.object({
      metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }),
      spec: z.looseObject({
        securityContext: z.looseObject({ runAsNonRoot: z.boolean() }),
        volumes: z.array(z.looseObject({ name: z.string() })),
        containers: z.array(
          z.looseObject({
            env: z.array(z.looseObject({ name: z.string() })),
            livenessProbe: probe,
            readinessProbe: probe,
            startupProbe: probe,
            securityContext: z.looseObject({ readOnlyRootFilesystem: z.boolean() }),
            volumeMounts: z.array(z.looseObject({ name: z.string() })),
          }),
        ),
      }),
    }),
  }),
})

function render(values: Record<string, string>): Map<string, unknown> {
  const { status, stdout, stderr } = spawnSync(helm, ['template', 'store', chart, ...flags(values)], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  const documents = parseAllDocuments(stdout).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS()
  })
  return new Map(
    documents.filter(Boolean).map((document) => {
      const { kind, metadata } = reference.parse(document)
      return [`${kind}/${metadata.name}`, document]
    }),
  )
}

describe.skipIf(!isInstalled)(isInstalled ? 'the chart' : 'the chart (helm is not installed)', () => {
  test.each([{}, gateways])('has nothing that lint warns of: %o', (values) => {
    const { status, stdout } = spawnSync(helm, ['lint', '--strict', chart, ...flags(values)], { encoding: 'utf8' })
    expect(status, stdout).toBe(0)
  })

  test('renders one server with a volume of its own', () => {
    const rendered = render({})
    expect([...rendered.keys()].sort()).toEqual([
      'Service/store-holdfast',
      'Service/store-holdfast-admin',
      'ServiceAccount/store-holdfast',
      'StatefulSet/store-holdfast',
    ])
    const { spec } = workload.parse(rendered.get('StatefulSet/store-holdfast'))
    expect(spec.replicas).toBe(1)
    expect(spec.volumeClaimTemplates?.map(({ metadata }) => metadata.name)).toEqual(['data'])
    expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels)
  })

  test('renders gateways over PostgreSQL, of which a drain takes one at a time', () => {
    const rendered = render(gateways)
    const kinds = [...rendered.keys()]
    expect(kinds).toContain('PodDisruptionBudget/store-holdfast')
    expect(kinds).not.toContain('StatefulSet/store-holdfast')
    const { spec } = workload.parse(rendered.get('Deployment/store-holdfast'))
    expect(spec.replicas).toBe(2)
    const variables = spec.template.spec.containers.flatMap(({ env }) => env)
    const fromSecret = (name: string, secret: string, key: string): object => ({
      name,
      valueFrom: { secretKeyRef: { name: secret, key } },
    })
    expect(variables).toEqual(
      expect.arrayContaining([
        fromSecret('HOLDFAST_METADATA_URL', 'database', 'url'),
        fromSecret('HOLDFAST_KEY_RING', 'ring', 'keys'),
        fromSecret('HOLDFAST_ACCESS_KEY_ID', 'root', 'accessKeyId'),
        fromSecret('HOLDFAST_SECRET_ACCESS_KEY', 'root', 'secretAccessKey'),
      ]),
    )
  })

  test.each([{}, gateways])(
    'runs without rights, asks the admin port for health, and mounts what it names: %o',
    (values) => {
      const rendered = render({ ...values, 'tls.secret': 'certificate' })
      const pods = [...rendered].filter(([name]) => /^(?:Deployment|StatefulSet)/.test(name))
      expect(pods).toHaveLength(1)
      const { spec } = workload.parse(pods[0]?.[1])
      const { securityContext, containers, volumes } = spec.template.spec
      expect(securityContext.runAsNonRoot).toBe(true)
      const claimed = spec.volumeClaimTemplates?.map(({ metadata }) => metadata.name) ?? []
      const known = [...claimed, ...volumes.map(({ name }) => name)].sort()
      expect(containers).toHaveLength(1)
      for (const container of containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        const asked = (path: string): object => ({ httpGet: { path, port: 'admin', scheme: 'HTTPS' } })
        expect(container.startupProbe).toEqual(asked('/healthz'))
        expect(container.livenessProbe).toEqual(asked('/healthz'))
        expect(container.readinessProbe).toEqual(asked('/readyz'))
        expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(known)
      }
    },
  )

  test('renders what is off at first', () => {
    const on = { 'serviceMonitor.enabled': 'true', 'ingress.enabled': 'true', 'ingress.hosts[0]': 's3.example.com' }
    const rendered = render({ ...on, 'rootKey.accessKeyId': 'main', 'rootKey.secretAccessKey': 'a secret' })
    expect(rendered.get('Secret/store-holdfast-root-key')).toMatchObject({
      stringData: { accessKeyId: 'main', secretAccessKey: 'a secret' },
    })
    expect(rendered.get('Ingress/store-holdfast')).toMatchObject({ spec: { rules: [{ host: 's3.example.com' }] } })
    expect(rendered.get('ServiceMonitor/store-holdfast')).toMatchObject({
      spec: {
        selector: { matchLabels: { 'app.kubernetes.io/component': 'admin' } },
        endpoints: [{ path: '/metrics' }],
      },
    })
  })

  test.each([
    [{ mode: 'cluster' }, /expects single or gateways/],
    [{ ...gateways, 'gateways.databaseSecret': '' }, /PostgreSQL/],
    [{ ...gateways, 'rootKey.existingSecret': '' }, /the same key/],
    [{ ...gateways, config: '' }, /default location/],
    [{ 'rootKey.accessKeyId': 'main' }, /need each other/],
  ])('refuses %o', (values, message) => {
    expect(() => render(values)).toThrow(message)
  })
})
