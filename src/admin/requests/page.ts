/** Renders the operations of the admin port as Markdown: docs/admin.md. */
import { code, page, table } from '../../contract/markdown.ts'
import type { AdminOperation } from './operation.ts'

export function adminPage(operations: readonly AdminOperation[]): string {
  return page([
    '# The admin port',
    '',
    '<!-- Generated from the operations’ declarations by `npm run docs`. Do not edit. -->',
    '',
    'What `holdfast accounts`, `users`, `policies` and `keys` ask of a running server ([Users and keys](access.md#users-and-keys)), anything else can ask, too:',
    '',
    '- Requests are signed with Signature Version 4 in the `Authorization` header, as for S3 (service `s3`), and with the SHA-256 of the body in `x-amz-content-sha256`.',
    '- Or they come from a browser session, which `LogIn` begins: with its cookie, and, unless they are GETs, with `X-CSRF-Token`. A session ends after 12 hours, or one hour without a request ([ADR 0046](adr/0046-sessions-of-the-admin-port.md)).',
    '- Permission `anyone`: no proof of identity is needed. `sender`: any key or session will do, because the answer is about itself.',
    '- Server-sent events are JSON. A stream ends with its session.',
    '- Input is a JSON object of at most 1 MiB; of a GET, the query. An unknown field is refused. A question mark marks what may be left out. Times are ISO 8601 with a zone.',
    '- Answers are JSON. An error has its status, and a body with `code`, `message` and `requestId`.',
    '- `GET /healthz`, `GET /readyz` and `GET /openapi.json` (this interface as OpenAPI 3.1) are open.',
    '',
    ...table(
      ['Operation', 'Request', 'Input', 'Permission', 'Meaning'],
      operations.map((operation) => [
        operation.name,
        code(`${operation.method} ${operation.path}`),
        inputOf(operation),
        code(operation.permission),
        operation.summary,
      ]),
    ),
    '',
    'What is done with a key of an account itself, rather than of a user, also takes `admin:ManageAccountKeys`.',
  ])
}

function inputOf({ input }: AdminOperation): string {
  return Object.entries(input.shape)
    .map(([name, field]) => code(field.safeParse(undefined).success ? `${name}?` : name))
    .join(', ')
}
