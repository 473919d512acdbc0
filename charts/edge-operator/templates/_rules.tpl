{{/* The kinds' plural names, as a list in JSON. */}}
{{- define "edge-operator.plurals" -}}
{{- $plurals := list }}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" }}
{{- $plurals = append $plurals (trimSuffix ".yaml" (base $path)) }}
{{- end }}
{{- $plurals | toJson }}
{{- end }}

{{/* In every namespace that is watched. */}}
{{- define "edge-operator.rules" -}}
{{- $plurals := include "edge-operator.plurals" . | fromJsonArray }}
- apiGroups: [edge-operator.dev]
  resources:
    {{- toYaml $plurals | nindent 4 }}
  verbs: [get, list, watch, patch]
- apiGroups: [edge-operator.dev]
  resources:
    {{- range $plurals }}
    - {{ . }}/status
    {{- end }}
  verbs: [patch]
# Replays that are over go after their time to live.
- apiGroups: [edge-operator.dev]
  resources: [requestreplays]
  verbs: [delete]
{{- if or .Values.rbac.secrets .Values.rbac.secretNames }}
{{ include "edge-operator.rules.secrets" .Values.rbac.secretNames }}
{{- end }}
{{- if .Values.endpointMirror.cloudAccounts }}
{{ include "edge-operator.rules.mirror" . }}
{{- else }}
- apiGroups: [""]
  resources: [configmaps]
  verbs: [list, watch]
{{- end }}
# What a serviceRef leads to is looked at before a request is sent there.
- apiGroups: [""]
  resources: [services]
  verbs: [get]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{/* Secrets of these names, or all of them. */}}
{{- define "edge-operator.rules.secrets" -}}
- apiGroups: [""]
  resources: [secrets]
  {{- with . }}
  resourceNames:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  verbs: [list, watch, patch]
# Whether an account's Secret goes with its namespace.
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get]
{{- end }}

{{/* What the chart's own accounts of one namespace need, beyond what is granted for others' too. Takes secrets and mirror. */}}
{{- define "edge-operator.rules.accounts" -}}
{{- with .secrets }}
{{ include "edge-operator.rules.secrets" . }}
{{- end }}
{{- if .mirror }}
{{ include "edge-operator.rules.mirror" . }}
{{- end }}
{{- end }}

{{/* Where endpoints are mirrored. */}}
{{- define "edge-operator.rules.mirror" -}}
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch, create, update, delete]
{{- end }}

{{/* In the operator's own namespace. RBAC cannot tie `create` to a name. */}}
{{- define "edge-operator.rules.leader" -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames:
    - edge-operator
    - edge-operator-budget
    {{- /* Of the most shards that there may be: replicas of another number go on until they end. */}}
    {{- range until 64 }}
    - edge-operator-{{ . }}
    {{- end }}
  verbs: [get, update]
# Its own: what the installation is known by.
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get]
{{- end }}
