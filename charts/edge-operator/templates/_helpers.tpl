{{- define "edge-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Of every object; a release named after the chart is not named twice. */}}
{{- define "edge-operator.fullname" -}}
{{- $name := include "edge-operator.name" . }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $full .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "edge-operator.serviceAccountName" -}}
{{- $default := ternary (include "edge-operator.fullname" .) "default" .Values.serviceAccount.create }}
{{- default $default .Values.serviceAccount.name }}
{{- end }}

{{/* Annotations of what outlives the release: by Helm and Flux, and, if it is no longer rendered, by Argo CD. */}}
{{- define "edge-operator.keep" -}}
helm.sh/resource-policy: keep
argocd.argoproj.io/sync-options: Prune=false
{{- end }}

{{/* Labels that select pods: they can never change. Takes a dict of root and component. */}}
{{- define "edge-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "edge-operator.name" .root | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Labels of every object; those of commonLabels cannot replace the chart's own. */}}
{{- define "edge-operator.labels" -}}
{{- $own := dict
  "app.kubernetes.io/name" (include "edge-operator.name" .)
  "app.kubernetes.io/instance" .Release.Name
  "app.kubernetes.io/version" .Chart.AppVersion
  "app.kubernetes.io/part-of" "edge-operator"
  "app.kubernetes.io/managed-by" .Release.Service
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_")
}}
{{- merge $own .Values.commonLabels | toYaml }}
{{- end }}

{{/* Labels of pods. Takes a dict of root, component and labels, which cannot replace those that select. */}}
{{- define "edge-operator.podLabels" -}}
{{- $selector := include "edge-operator.selectorLabels" . | fromYaml }}
{{- $labels := include "edge-operator.labels" .root | fromYaml }}
{{- merge $selector $labels (default dict .labels) | toYaml }}
{{- end }}

{{- define "edge-operator.image" -}}
{{- $tag := default .Chart.AppVersion .Values.image.tag }}
{{- $version := ternary (printf ":%s" $tag) (printf "@%s" .Values.image.digest) (empty .Values.image.digest) }}
{{- printf "%s%s" .Values.image.repository $version }}
{{- end }}

{{/* Name of the Secret with the default account's key; empty when there is no default account. */}}
{{- define "edge-operator.accountSecret" -}}
{{- $own := ternary (printf "%s-account" (include "edge-operator.fullname" .)) "" (ne .Values.account.apiKey "") }}
{{- default $own .Values.account.existingSecret }}
{{- end }}

{{/* What a container that works with the default account mounts, and what its pod has for that. */}}
{{- define "edge-operator.volumeMounts" -}}
{{- if include "edge-operator.accountSecret" . }}
# The whole folder, not one file of it: only so does a changed key arrive.
- name: account
  mountPath: /var/run/secrets/edge-operator/account
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "edge-operator.volumes" -}}
{{- with include "edge-operator.accountSecret" . }}
- name: account
  secret:
    secretName: {{ . | quote }}
    items:
      - key: {{ $.Values.account.secretKey | quote }}
        path: {{ $.Values.account.secretKey | quote }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Flags of the operator that say where it works, and with what: what looks at an installation takes them too. */}}
{{- define "edge-operator.placeFlags" -}}
{{- if gt (int .Values.shards) 1 }}
- --shards={{ .Values.shards }}
{{- end }}
{{- with .Values.watchNamespaces }}
- --watch-namespaces={{ join "," . }}
{{- end }}
{{- with .Values.account.apiURL }}
- {{ printf "--api-url=%s" . | quote }}
{{- end }}
{{- $secret := include "edge-operator.accountSecret" . }}
{{- if $secret }}
- --api-key-file=/var/run/secrets/edge-operator/account/{{ .Values.account.secretKey }}
{{- end }}
{{- if and $secret .Values.endpointMirror.enabled }}
- --mirror-namespace={{ include "edge-operator.mirrorNamespace" . }}
- --mirror-interval={{ .Values.endpointMirror.interval }}
{{- else }}
- --mirror-interval=0
{{- end }}
{{- end }}

{{/* Name of the Secret with the key of one of `accounts`. Takes a dict of root and account. */}}
{{- define "edge-operator.secretOfAccount" -}}
{{- default (printf "%s-account-%s" (include "edge-operator.fullname" .root) .account.name) .account.existingSecret }}
{{- end }}

{{/* By namespace: what `accounts` need there that the roles for all accounts do not grant. A dict, as JSON. */}}
{{- define "edge-operator.accountNeeds" -}}
{{- $needs := dict }}
{{- range .Values.accounts }}
{{- $namespace := default $.Release.Namespace .namespace }}
{{- $known := default (dict "secrets" list "mirror" false) (get $needs $namespace) }}
{{- $secret := include "edge-operator.secretOfAccount" (dict "root" $ "account" .) }}
{{- $secrets := ternary $known.secrets (append $known.secrets $secret | uniq) $.Values.rbac.secrets }}
{{- /* One that is turned off has ConfigMaps to delete. */}}
{{- $mirrors := and (hasKey . "endpointMirror") (not $.Values.endpointMirror.cloudAccounts) }}
{{- $needs = set $needs $namespace (dict "secrets" $secrets "mirror" (or $known.mirror $mirrors)) }}
{{- end }}
{{- $needs | toJson }}
{{- end }}

{{- define "edge-operator.mirrorNamespace" -}}
{{- default .Release.Namespace .Values.endpointMirror.namespace }}
{{- end }}

{{/* Names of namespaces where the default account may be used; empty: all of them. A list, as JSON. */}}
{{- define "edge-operator.defaultAccountNamespaces" -}}
{{- $watched := default list .Values.watchNamespaces }}
{{- $named := without (default list .Values.settings.defaultAccountNamespaces) "*" }}
{{- $both := list }}
{{- range $named }}
{{- if or (not $watched) (has . $watched) }}{{ $both = append $both . }}{{ end }}
{{- end }}
{{- ternary $both $watched (gt (len $named) 0) | toJson }}
{{- end }}

{{/* Hosts that CloudAccounts may name: those given, and those of the accounts made here, by their scheme. A list, as JSON. */}}
{{- define "edge-operator.allowedApiHosts" -}}
{{- $hosts := default (list) .Values.settings.allowedApiHosts }}
{{- range .Values.accounts }}
{{- with .apiURL }}
{{- $url := urlParse . }}
{{- $hosts = append $hosts (ternary (printf "http://%s" $url.host) $url.host (eq $url.scheme "http")) }}
{{- end }}
{{- end }}
{{- $hosts | uniq | toJson }}
{{- end }}

{{/*
Ports of everything that the operator calls beside DNS: those given, and those of the addresses in the values. A list, as
JSON.
*/}}
{{- define "edge-operator.egressPorts" -}}
{{- $ports := list }}
{{- range .Values.networkPolicy.egressPorts }}{{ $ports = append $ports (int .) }}{{ end }}
{{- $urls := list }}
{{- range append .Values.accounts .Values.account }}
{{- with .apiURL }}{{ $urls = append $urls . }}{{ end }}
{{- end }}
{{- range .Values.settings.allowedApiHosts }}
{{- $urls = append $urls (ternary . (printf "https://%s" .) (contains "://" .)) }}
{{- end }}
{{- range $urls }}
{{- $url := urlParse . }}
{{- $default := ternary "80" "443" (eq $url.scheme "http") }}
{{- $ports = append $ports (regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default $default | int) }}
{{- end }}
{{- /* Patterns and networks among them are no part of a URL. */}}
{{- range .Values.settings.allowedAgentHosts }}
{{- $port := regexFind ":[0-9]+$" . | trimPrefix ":" }}
{{- $ports = concat $ports (ternary (list 80 443) (list (int $port)) (empty $port)) }}
{{- end }}
{{- $ports | uniq | toJson }}
{{- end }}

{{/* Milliseconds of a duration, which may be a number: 0. Rounded as the operator does. */}}
{{- define "edge-operator.milliseconds" -}}
{{- $unit := get (dict "" 1 "ms" 1 "s" 1000 "m" 60000 "h" 3600000) (regexFind "[a-z]+$" (toString .)) }}
{{- addf (mulf (regexFind "^[0-9.]+" (toString .)) $unit) 0.5 | floor | int64 }}
{{- end }}

{{/* Not in the schema: what refuses by that repeats what it refuses. Takes what names the account, and its key. */}}
{{- define "edge-operator.validateKey" -}}
{{- $key := default "" (index . 1) }}
{{- if and (ne $key "") (not (regexMatch "^[!-~]+$" (trim $key))) }}
{{- fail (printf "%s: apiKey is no API key: a key is one line of visible ASCII characters, without blanks" (index . 0)) }}
{{- end }}
{{- end }}

{{/* What a schema cannot say. */}}
{{- define "edge-operator.validate" -}}
{{- with .Values.account }}
{{- if and .apiKey .existingSecret }}
{{- fail "account.apiKey and account.existingSecret exclude each other: give one of them" }}
{{- end }}
{{- if and (or .apiKey .existingSecret) (not .apiURL) }}
{{- fail "account.apiURL is needed: the address of the Cloud Management API of the default account" }}
{{- end }}
{{- end }}
{{- if and (or .Values.metrics.enabled .Values.agent.enabled) (not (regexMatch "^[a-z][-a-z0-9]*$" (include "edge-operator.fullname" .))) }}
{{- fail (printf "the release is named %s, which no Service may be: give fullnameOverride, of letters, digits and -, a letter first" (include "edge-operator.fullname" .)) }}
{{- end }}
{{- include "edge-operator.validateKey" (list "account" .Values.account.apiKey) }}
{{- $ids := list }}
{{- range $index, $account := .Values.accounts }}
{{- $what := printf "accounts[%d] (%s)" $index .name }}
{{- $id := printf "%s/%s" (default $.Release.Namespace .namespace) .name }}
{{- if has $id $ids }}
{{- fail (printf "%s: there is another of that name in its namespace" $what) }}
{{- end }}
{{- $ids = append $ids $id }}
{{- if eq (empty .apiKey) (empty .existingSecret) }}
{{- fail (printf "%s: give one of apiKey and existingSecret" $what) }}
{{- end }}
{{- include "edge-operator.validateKey" (list $what .apiKey) }}
{{- if not (or .apiURL $.Values.account.apiURL) }}
{{- fail (printf "%s: give apiURL here, or account.apiURL for all" $what) }}
{{- end }}
{{- $namespace := default $.Release.Namespace .namespace }}
{{- if and $.Values.watchNamespaces (not (has $namespace $.Values.watchNamespaces)) }}
{{- fail (printf "%s: its namespace %s is not in watchNamespaces" $what $namespace) }}
{{- end }}
{{- end }}
{{- if and .Values.test.sample.account (not .Values.test.sample.namespace) }}
{{- fail "test.sample.account needs test.sample.namespace, in which that account is" }}
{{- end }}
{{- with .Values.test.sample.namespace }}
{{- if and $.Values.watchNamespaces (not (has . $.Values.watchNamespaces)) }}
{{- fail (printf "test.sample.namespace: %s is not in watchNamespaces" .) }}
{{- end }}
{{- end }}
{{- /* An Agent elsewhere may name it by a url that is allowed, and its own tunnels need none. */}}
{{- $isReached := or (not .Values.watchNamespaces) (has .Release.Namespace .Values.watchNamespaces) .Values.settings.allowedAgentHosts }}
{{- if and .Values.agent.enabled (not (or $isReached .Values.agent.config.tunnels)) }}
{{- fail (printf "agent.enabled: its namespace %s is not in watchNamespaces: add it, or its host to settings.allowedAgentHosts" .Release.Namespace) }}
{{- end }}
{{- if and .Values.rbac.secrets .Values.rbac.secretNames }}
{{- fail "rbac.secrets and rbac.secretNames exclude each other: give one of them" }}
{{- end }}
{{- range list "web_addr" "edge_addr" }}
{{- if hasKey $.Values.agent.config . }}
{{- fail (printf "agent.config.%s is set by the chart: leave it out" .) }}
{{- end }}
{{- end }}
{{- if and .Values.agent.registerEndpoints (not (include "edge-operator.accountSecret" .)) }}
{{- fail "agent.registerEndpoints needs the default account: give account.apiURL and a key" }}
{{- end }}
{{- $regions := list "au" "eu" "ap" "us" "jp" "in" "sa" }}
{{- if and .Values.agent.registerEndpoints (not (has (default "us" .Values.agent.config.region) $regions)) }}
{{- fail (printf "agent.config.region must be one of %s with agent.registerEndpoints" (join ", " $regions)) }}
{{- end }}
{{- if not .Values.metrics.enabled }}
{{- range list "serviceMonitor" "prometheusRule" }}
{{- if (get $.Values.metrics .).enabled }}
{{- fail (printf "metrics.%s.enabled needs metrics.enabled" .) }}
{{- end }}
{{- end }}
{{- else if eq (int .Values.metrics.port) (int .Values.healthPort) }}
{{- fail "metrics.port and healthPort are the same: give two ports" }}
{{- end }}
{{- range list
  (list "endpointMirror.interval" .Values.endpointMirror.interval "24h")
  (list "settings.resyncInterval" .Values.settings.resyncInterval "8760h")
  (list "settings.createSettle" .Values.settings.createSettle "1h")
}}
{{- $given := ternary "1s" (index . 1) (kindIs "invalid" (index . 1)) }}
{{- if not (regexMatch "^(0|[0-9]{1,12}(\\.[0-9]+)?(ms|s|m|h))$" (toString $given)) }}
{{- fail (printf "%s: %s is no duration: write 500ms, 30s, 5m or 1h" (index . 0) (toString $given | quote)) }}
{{- end }}
{{- $ms := include "edge-operator.milliseconds" $given | int64 }}
{{- $most := include "edge-operator.milliseconds" (index . 2) | int64 }}
{{- $isNever := and (eq $ms 0) (eq (index . 0) "endpointMirror.interval") }}
{{- if and (not $isNever) (or (lt $ms 100) (gt $ms $most)) }}
{{- fail (printf "%s must be at least 100ms and at most %s, not %v" (index . 0) (index . 2) $given) }}
{{- end }}
{{- end }}
{{- $namespaces := .Values.settings.defaultAccountNamespaces }}
{{- if and (has "*" (default list $namespaces)) (gt (len $namespaces) 1) }}
{{- fail "settings.defaultAccountNamespaces: give names, or * alone for all" }}
{{- end }}
{{- if and .Values.watchNamespaces (not (include "edge-operator.defaultAccountNamespaces" . | fromJsonArray)) }}
{{- fail (printf "settings.defaultAccountNamespaces: none of %s is in watchNamespaces" (join ", " $namespaces)) }}
{{- end }}
{{- end }}
