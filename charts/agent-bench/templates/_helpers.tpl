{{- define "agent-bench.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "agent-bench.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "agent-bench.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "agent-bench.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "agent-bench.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{ include "agent-bench.selector" . }}
{{- end -}}

{{- define "agent-bench.selector" -}}
app.kubernetes.io/name: {{ include "agent-bench.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "agent-bench.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "agent-bench.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- /* An image by digest, or by tag where no digest is given; one without either is refused. */ -}}
{{- define "agent-bench.image" -}}
{{- $repository := required (printf "%s.repository is required: name the image that was built from images/, as in --set %s.repository=registry.example.org/agent-bench/NAME" .at .at) .image.repository -}}
{{- if .image.digest -}}
{{- printf "%s@%s" $repository .image.digest -}}
{{- else if .image.tag -}}
{{- printf "%s:%s" $repository .image.tag -}}
{{- else -}}
{{- fail (printf "%s has neither digest nor tag: set %s.digest to the sha256:... that the build printed (then every run has the same image), or %s.tag" .at .at .at) -}}
{{- end -}}
{{- end -}}

{{- define "agent-bench.gatewaySecret" -}}
{{- default (printf "%s-gateway" (include "agent-bench.fullname" .)) .Values.gateway.existingSecret -}}
{{- end -}}

{{- /* The pods of `helm test` that speak to operator and gateway. */ -}}
{{- define "agent-bench.testPods" -}}
matchLabels:
  {{- include "agent-bench.selector" . | nindent 2 }}
  app.kubernetes.io/component: test
{{- end -}}

{{- /* Port that the gateway listens on; campaigns' policies name it, whatever its Service's is. */ -}}
{{- define "agent-bench.gatewayPort" -}}3128{{- end -}}

{{- define "agent-bench.forbidden" -}}
{{- default "$(KUBERNETES_SERVICE_HOST):$(KUBERNETES_SERVICE_PORT)" .Values.fence.forbidden -}}
{{- end -}}

{{- define "agent-bench.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "agent-bench.rules" -}}
- apiGroups: [agentbench.dev]
  resources: [benchmarkcampaigns]
  verbs: [get, list, watch, patch]
- apiGroups: [agentbench.dev]
  resources: [benchmarkcampaigns/status, benchmarkruns/status]
  verbs: [patch]
- apiGroups: [agentbench.dev]
  resources: [benchmarkruns]
  verbs: [get, list, watch, create]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, create, delete]
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, create]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, create]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list, watch, create, delete]
- apiGroups: [batch]
  resources: [cronjobs]
  verbs: [get, create, update]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [get, create]
{{- end -}}

