{{- define "holdfast.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "holdfast.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "holdfast.labels" -}}
{{ include "holdfast.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "holdfast.rootKeySecret" -}}
{{- .Values.rootKey.existingSecret | default (printf "%s-root-key" (include "holdfast.name" .)) }}
{{- end }}

{{- define "holdfast.hasRootKey" -}}
{{- if or .Values.rootKey.existingSecret .Values.rootKey.accessKeyId }}true{{ end }}
{{- end }}

{{- define "holdfast.scheme" -}}
{{- if .Values.tls.secret }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}
