{{/* The objects of deploy/ come from its kustomizations, which lie in files/: this does what
kustomize does, as far as they use it. */}}

{{/* The tag of the scheduler's image for the API server's minor: docs/deploy.md, Images. */}}
{{- define "schedulerTag" -}}
{{- $minor := .Capabilities.KubeVersion.Minor | trimSuffix "+" | atoi -}}
{{- .Values.image.tag | default .Chart.AppVersion -}}
{{- if ne $minor 36 }}-kubernetes-1.{{ min $minor 37 }}{{ end -}}
{{- end }}

{{/* A file, with what values say in place of what it says. */}}
{{- define "file" -}}
{{- $image := "registry.example/regex-scheduling" -}}
{{- required (printf "the chart lacks files/%s" .path) (.root.Files.Get (printf "files/%s" .path))
  | replace "amespace: regex-scheduling" (printf "amespace: %s" .root.Release.Namespace)
  | replace "schedulerName: custom-scheduler" (printf "schedulerName: %s" .root.Values.schedulerName)
  | replace "metadata.name: monitoring" (printf "metadata.name: %s" .root.Values.prometheus.namespace)
  | replace (printf "%s/scheduler:dev" $image) (printf "%s/scheduler:%s" .root.Values.image.registry (include "schedulerTag" .root))
  | replace (printf "%s/" $image) (printf "%s/" .root.Values.image.registry)
  | replace ":dev" (printf ":%s" (.root.Values.image.tag | default .root.Chart.AppVersion)) -}}
{{- end }}

{{/* One operation of a JSON patch, add or replace: changes the object. */}}
{{- define "operation" -}}
{{- $keys := splitList "/" (trimPrefix "/" .path) -}}
{{- $parent := dict -}}{{- $name := "" -}}{{- $at := .object -}}
{{- range initial $keys -}}
{{- if kindIs "slice" $at -}}{{- $at = index $at (atoi .) -}}{{- else -}}{{- $parent = $at -}}{{- $name = . -}}{{- $at = index $at . -}}{{- end -}}
{{- end -}}
{{- if eq (last $keys) "-" -}}{{- $_ := set $parent $name (append $at .value) -}}{{- else -}}{{- $_ := set $at (last $keys) .value -}}{{- end -}}
{{- end }}

{{/* The objects of some folders of deploy/, with the patches of all of them. */}}
{{- define "kustomize" -}}
{{- $root := .root -}}{{- $objects := list -}}{{- $patches := list -}}{{- $configs := "" -}}
{{- range $folder := .folders -}}
{{- $k := include "file" (dict "root" $root "path" (printf "%s/kustomization.yaml" $folder)) | fromYaml -}}
{{- $labels := dict -}}
{{- range $k.labels -}}{{- $labels = .pairs -}}{{- end -}}
{{- range $name := $k.resources -}}
{{- if not (hasPrefix ".." $name) -}}
{{- range regexSplit "(?m)^---$" (include "file" (dict "root" $root "path" (printf "%s/%s" $folder $name))) -1 -}}
{{- $object := fromYaml . -}}
{{- if not (hasPrefix "Cluster" $object.kind) -}}{{- $_ := set $object.metadata "namespace" $root.Release.Namespace -}}{{- end -}}
{{- $_ := set $object.metadata "labels" (merge (dict) $labels ($object.metadata.labels | default dict)) -}}
{{- if eq $object.kind "Deployment" -}}{{- $_ := set $object.spec.template "metadata" (dict "labels" $labels) -}}{{- end -}}
{{- $objects = append $objects $object -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $k.configMapGenerator -}}
{{- $text := include "file" (dict "root" $root "path" (printf "%s/config.yaml" $folder)) -}}
{{- $configs = print $configs $text -}}
{{- $metadata := dict "name" .name "namespace" $root.Release.Namespace "labels" $labels -}}
{{- $objects = append $objects (dict "apiVersion" "v1" "kind" "ConfigMap" "metadata" $metadata "data" (dict "config.yaml" $text)) -}}
{{- end -}}
{{- $patches = concat $patches ($k.patches | default list) -}}
{{- end -}}
{{- range $object := $objects -}}
{{- range $patch := $patches -}}
{{- if and (eq $patch.target.kind $object.kind) (eq $patch.target.name $object.metadata.name) -}}
{{- range fromYamlArray $patch.patch -}}{{- include "operation" (dict "object" $object "path" .path "value" .value) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{/* A changed configuration rolls the Deployment. */}}
{{- if and $configs (eq $object.kind "Deployment") -}}
{{- $_ := set $object.spec.template.metadata "annotations" (dict "checksum/config" (sha256sum $configs)) -}}
{{- end }}
---
{{ toYaml $object }}
{{- end -}}
{{- end }}
