{{- /* The pod of both modes. They differ in what /data is. */ -}}
{{- define "holdfast.pod" -}}
metadata:
  labels:
    {{- include "holdfast.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    checksum/config: {{ .Values.config | sha256sum }}
    {{- with .Values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ include "holdfast.name" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  securityContext: {{ toYaml .Values.podSecurityContext | nindent 4 }}
  containers:
    - name: holdfast
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      securityContext: {{ toYaml .Values.securityContext | nindent 8 }}
      env:
        - { name: HOLDFAST_DATA, value: /data }
        - { name: HOLDFAST_LISTEN, value: ":9000" }
        - { name: HOLDFAST_ADMIN_LISTEN, value: ":9001" }
        {{- if .Values.config }}
        - { name: HOLDFAST_CONFIG, value: /etc/holdfast/holdfast.toml }
        {{- end }}
        {{- if .Values.tls.secret }}
        - { name: HOLDFAST_TLS_CERT, value: /etc/holdfast-tls/tls.crt }
        - { name: HOLDFAST_TLS_KEY, value: /etc/holdfast-tls/tls.key }
        {{- end }}
        {{- if include "holdfast.hasRootKey" . }}
        - name: HOLDFAST_ACCESS_KEY_ID
          valueFrom: { secretKeyRef: { name: {{ include "holdfast.rootKeySecret" . }}, key: accessKeyId } }
        - name: HOLDFAST_SECRET_ACCESS_KEY
          valueFrom: { secretKeyRef: { name: {{ include "holdfast.rootKeySecret" . }}, key: secretAccessKey } }
        {{- end }}
        {{- if eq .Values.mode "gateways" }}
        - name: HOLDFAST_METADATA_URL
          valueFrom: { secretKeyRef: { name: {{ .Values.gateways.databaseSecret }}, key: url } }
        {{- with .Values.gateways.keyRingSecret }}
        - name: HOLDFAST_KEY_RING
          valueFrom: { secretKeyRef: { name: {{ . }}, key: keys } }
        {{- end }}
        {{- end }}
        {{- with .Values.env }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- with .Values.envFrom }}
      envFrom: {{ toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - { name: s3, containerPort: 9000 }
        - { name: admin, containerPort: 9001 }
      # After a crash, the server checks its metadata before it serves.
      startupProbe:
        httpGet: { path: /healthz, port: admin, scheme: {{ include "holdfast.scheme" . }} }
        periodSeconds: 2
        failureThreshold: 900
      livenessProbe:
        httpGet: { path: /healthz, port: admin, scheme: {{ include "holdfast.scheme" . }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: admin, scheme: {{ include "holdfast.scheme" . }} }
        periodSeconds: 5
        timeoutSeconds: 5
      resources: {{ toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
        {{- if .Values.config }}
        - { name: config, mountPath: /etc/holdfast, readOnly: true }
        {{- end }}
        {{- if .Values.tls.secret }}
        - { name: tls, mountPath: /etc/holdfast-tls, readOnly: true }
        {{- end }}
        {{- with .Values.volumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    - { name: tmp, emptyDir: {} }
    {{- if eq .Values.mode "gateways" }}
    - { name: data, emptyDir: {} }
    {{- end }}
    {{- if .Values.config }}
    - { name: config, secret: { secretName: {{ include "holdfast.name" . }}-config } }
    {{- end }}
    {{- with .Values.tls.secret }}
    - { name: tls, secret: { secretName: {{ . }} } }
    {{- end }}
    {{- with .Values.volumes }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints: {{ toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
