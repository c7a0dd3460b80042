{{- define "karpenter-node-holder.selector" -}}
app.kubernetes.io/name: karpenter-node-holder
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "karpenter-node-holder.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "karpenter-node-holder.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* A flag of `run` for each setting: --max-hold for maxHold. */}}
{{- define "karpenter-node-holder.flags" -}}
{{- range $name, $value := .Values.settings }}
{{- if $value }}
{{- $between := eq $name "holdDuring" | ternary ";" "," }}
- --{{ regexReplaceAll "[A-Z]" $name "-${0}" | lower }}
- {{ kindIs "slice" $value | ternary (join $between $value) $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "karpenter-node-holder.container" -}}
name: holder
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
command: [karpenter-node-holder]
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  capabilities:
    drop: [ALL]
  readOnlyRootFilesystem: true
{{- end }}

{{- /* What both Pods need to be accepted under the Pod Security Standard `restricted`, and where they run. */}}
{{- define "karpenter-node-holder.pod" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- with pick .Values "imagePullSecrets" "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- range $name, $value := . }}
{{- if $value }}
{{ toYaml (dict $name $value) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
