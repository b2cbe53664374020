{{/* At most 53 characters, as a release's name. The alerts look for offledger in it. */}}
{{- define "offledger.fullname" -}}
{{- /* A Service must not have dots. */}}
{{- $name := .Release.Name | replace "." "-" -}}
{{- if contains "offledger" $name }}{{ $name }}
{{- else }}{{ $name | trunc 43 | trimSuffix "-" }}-offledger{{ end }}
{{- end }}

{{- define "offledger.selector" -}}
app.kubernetes.io/name: offledger
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "offledger.labels" -}}
{{ include "offledger.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "offledger.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{/* A memory quantity in MiB. */}}
{{- define "offledger.mebibytes" -}}
{{- $quantity := toString . -}}
{{- if hasSuffix "Gi" $quantity }}{{ mulf (trimSuffix "Gi" $quantity | float64) 1024 | floor | int }}
{{- else if hasSuffix "Mi" $quantity }}{{ trimSuffix "Mi" $quantity | int }}
{{- else if hasSuffix "G" $quantity }}{{ divf (mulf (trimSuffix "G" $quantity | float64) 1000000000) 1048576 | floor | int }}
{{- else if hasSuffix "M" $quantity }}{{ divf (mulf (trimSuffix "M" $quantity | float64) 1000000) 1048576 | floor | int }}
{{- else }}{{ fail (printf "memory limit %q must end in Mi, Gi, M or G" $quantity) }}{{ end }}
{{- end }}

{{- define "offledger.databaseUrl" -}}
{{- with .Values.database -}}
postgres://{{ .user | urlquery }}@{{ .host }}:{{ .port }}/{{ .name | urlquery }}
{{- if .caSecret.name }}?sslmode=verify-full&sslrootcert=/etc/offledger/database-ca/{{ .caSecret.key }}{{ end }}
{{- end -}}
{{- end }}

{{- define "offledger.databaseEnv" -}}
- { name: OFFLEDGER_DATABASE_URL, value: {{ include "offledger.databaseUrl" . | quote }} }
- { name: OFFLEDGER_DATABASE_PASSWORD_FILE, value: /etc/offledger/database-password/{{ .Values.database.passwordSecret.key }} }
{{- end }}

{{/* Whether the registry is the text of a file. */}}
{{- define "offledger.isRegistryFile" -}}
{{- if not (has .Values.registry (list "utility" "standard" "minimal" "test-token-v2" "simple-token")) }}true{{ end }}
{{- end }}

{{- define "offledger.hasFiles" -}}
{{- if or (include "offledger.isRegistryFile" .) .Values.contexts .Values.instruments }}true{{ end }}
{{- end }}

{{/* Environment of api and mirror. The same for both: what they store and how it is read has to agree. */}}
{{- define "offledger.env" -}}
{{ include "offledger.databaseEnv" . }}
- { name: OFFLEDGER_HOST, value: {{ ternary "::" "0.0.0.0" .Values.ipv6 | quote }} }
- { name: OFFLEDGER_PORT, value: "8080" }
- { name: OFFLEDGER_METRICS_PORT, value: {{ ternary "[::]:9464" "0.0.0.0:9464" .Values.ipv6 | quote }} }
- { name: OFFLEDGER_DRAIN_SECONDS, value: {{ .Values.drainSeconds | quote }} }
- { name: OFFLEDGER_LEDGER_URL, value: {{ .Values.ledger.url | quote }} }
- { name: OFFLEDGER_LEDGER_PARTIES, value: {{ join "," .Values.ledger.parties | quote }} }
{{- with .Values.ledger.caSecret }}{{ if .name }}
- { name: OFFLEDGER_LEDGER_CA_FILE, value: /etc/offledger/ledger-ca/{{ .key }} }
{{- end }}{{ end }}
{{- with .Values.ledger.auth.tokenSecret }}{{ if .name }}
- { name: OFFLEDGER_LEDGER_TOKEN_FILE, value: /etc/offledger/ledger-token/{{ .key }} }
{{- end }}{{ end }}
{{- with .Values.ledger.auth.oidc }}{{ if .issuer }}
- { name: OFFLEDGER_OIDC_ISSUER, value: {{ .issuer | quote }} }
- { name: OFFLEDGER_OIDC_CLIENT_ID, value: {{ .clientId | quote }} }
- { name: OFFLEDGER_OIDC_CLIENT_SECRET_FILE, value: /etc/offledger/oidc/{{ .secret.key }} }
{{- if .audience }}
- { name: OFFLEDGER_OIDC_AUDIENCE, value: {{ .audience | quote }} }
{{- end }}
{{- if .scope }}
- { name: OFFLEDGER_OIDC_SCOPE, value: {{ .scope | quote }} }
{{- end }}
{{- end }}{{ end }}
- { name: OFFLEDGER_REGISTRY, value: {{ if include "offledger.isRegistryFile" . }}/etc/offledger/files/registry.yaml{{ else }}{{ .Values.registry }}{{ end }} }
{{- if .Values.contexts }}
- { name: OFFLEDGER_CONTEXTS, value: /etc/offledger/files/contexts.yaml }
{{- end }}
{{- if .Values.instruments }}
- { name: OFFLEDGER_INSTRUMENTS, value: /etc/offledger/files/instruments.yaml }
{{- end }}
{{- with .Values.operator.tokenSecret }}{{ if .name }}
- { name: OFFLEDGER_OPERATOR_TOKEN_FILE, value: /etc/offledger/operator-token/{{ .key }} }
{{- end }}{{ end }}
{{- range $name, $value := .Values.settings }}
{{- /* `quote` alone writes 1000000 as 1e+06. */}}
- { name: {{ $name }}, value: {{ if kindIs "float64" $value }}{{ $value | toJson | quote }}{{ else }}{{ $value | quote }}{{ end }} }
{{- end }}
{{- end }}

{{/* Secrets by the folder under /etc/offledger into which each is mounted: a subPath would never see a rotation. */}}
{{- define "offledger.secrets" -}}
{{- $secrets := dict "database-password" .Values.database.passwordSecret.name "database-ca" .Values.database.caSecret.name -}}
{{- if not .isMigration -}}
{{- $_ := set $secrets "ledger-ca" .Values.ledger.caSecret.name -}}
{{- $_ := set $secrets "ledger-token" .Values.ledger.auth.tokenSecret.name -}}
{{- if .Values.ledger.auth.oidc.issuer }}{{ $_ := set $secrets "oidc" .Values.ledger.auth.oidc.secret.name }}{{ end -}}
{{- $_ := set $secrets "operator-token" .Values.operator.tokenSecret.name -}}
{{- end -}}
{{- toYaml $secrets -}}
{{- end }}

{{- define "offledger.volumeMounts" -}}
{{- range $folder, $secret := include "offledger.secrets" . | fromYaml }}{{ if $secret }}
- { name: {{ $folder }}, mountPath: /etc/offledger/{{ $folder }}, readOnly: true }
{{- end }}{{ end }}
{{- if and (not .isMigration) (include "offledger.hasFiles" .) }}
- { name: files, mountPath: /etc/offledger/files, readOnly: true }
{{- end }}
{{- end }}

{{- define "offledger.volumes" -}}
{{- range $folder, $secret := include "offledger.secrets" . | fromYaml }}{{ if $secret }}
- { name: {{ $folder }}, secret: { secretName: {{ $secret }} } }
{{- end }}{{ end }}
{{- if and (not .isMigration) (include "offledger.hasFiles" .) }}
- { name: files, configMap: { name: {{ include "offledger.fullname" . }}-files } }
{{- end }}
{{- end }}

{{- define "offledger.podSecurity" -}}
enableServiceLinks: false
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
{{- with .Values.runAsUser }}
  runAsUser: {{ . | int }}
  runAsGroup: {{ . | int }}
  fsGroup: {{ . | int }}
{{- end }}
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "offledger.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* Deployment and disruption budget of a component: (dict "component" "api" "heapEighths" 5 and the root). */}}
{{- define "offledger.component" -}}
{{- $values := index .Values .component -}}
{{- $name := printf "%s-%s" (include "offledger.fullname" .) .component -}}
{{- $limit := include "offledger.mebibytes" $values.resources.limits.memory | int -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "offledger.labels" . | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  replicas: {{ $values.replicas }}
  # Another release may have to load a snapshot before it is ready.
  progressDeadlineSeconds: 3600
  strategy:
    type: RollingUpdate
    # The old ones serve, and are fed, until the new ones are ready.
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels:
      {{- include "offledger.selector" . | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  template:
    metadata:
      labels:
        {{- include "offledger.labels" . | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
      annotations:
        checksum/files: {{ list .Values.registry .Values.contexts .Values.instruments | toJson | sha256sum }}
        {{- with $values.annotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "offledger.podSecurity" . | nindent 6 }}
      # Drain, the grace of pending requests (5 s), and time to end.
      terminationGracePeriodSeconds: {{ add .Values.drainSeconds 10 }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "offledger.selector" . | nindent 14 }}
              app.kubernetes.io/component: {{ .component }}
      {{- with $values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: offledger
          image: {{ include "offledger.image" . }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          args: [{{ .component }}]
          env:
            - { name: NODE_OPTIONS, value: --max-old-space-size={{ div (mul $limit .heapEighths) 8 }} }
            {{- include "offledger.env" . | nindent 12 }}
          ports:
            - { name: http, containerPort: 8080 }
            - { name: operator, containerPort: 9464 }
          # Asks neither ledger nor database: a restart would not mend them. Clients do not crowd the operator's port.
          startupProbe:
            httpGet: { path: /livez, port: operator }
            periodSeconds: 5
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /livez, port: operator }
            periodSeconds: 10
            timeoutSeconds: 3
          readinessProbe:
            httpGet: { path: /readyz, port: operator }
            periodSeconds: 2
            timeoutSeconds: 3
            failureThreshold: 2
          resources:
            {{- toYaml $values.resources | nindent 12 }}
          {{- include "offledger.containerSecurity" . | nindent 10 }}
          volumeMounts:
            {{- include "offledger.volumeMounts" . | trim | nindent 12 }}
      volumes:
        {{- include "offledger.volumes" . | trim | nindent 8 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels:
    {{- include "offledger.labels" . | nindent 4 }}
spec:
  {{- toYaml $values.podDisruptionBudget | nindent 2 }}
  selector:
    matchLabels:
      {{- include "offledger.selector" . | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
{{- end }}
