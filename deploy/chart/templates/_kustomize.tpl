{{/* The objects of deploy/ come from its kustomizations, which lie in files/: this does what
kustomize does, as far as they use it. */}}

{{/* What values say of the pods of a Deployment, by its name. */}}
{{- define "podValues" -}}
{{- index .root.Values (get (dict "custom-scheduler" "scheduler" "extender" "extender" "static-webserver" "staticWebserver") .name) | toYaml -}}
{{- end }}

{{/* The minor of Kubernetes that the scheduler's image is of: the API server's, or the one before it. */}}
{{- define "schedulerMinor" -}}
{{- $last := 37 -}}
{{- $minor := .Capabilities.KubeVersion.Minor | trimSuffix "+" | atoi -}}
{{- if gt $minor (add1 $last) -}}
{{- fail (printf "the scheduler of this chart serves Kubernetes up to 1.%d, and this is 1.%d: take a newer chart, or name an image with scheduler.image or image.tag" (add1 $last) $minor) -}}
{{- end -}}
{{- min $minor $last -}}
{{- end }}

{{/* The scheduler's image. The Makefile adds all minors but its first to the tag: docs/deploy.md, Images. */}}
{{- define "schedulerImage" -}}
{{- $tag := .Values.image.tag -}}
{{- if not (or .Values.scheduler.image $tag) -}}
{{- $minor := include "schedulerMinor" . -}}
{{- $tag = ne $minor "36" | ternary (printf "%s-kubernetes-1.%s" .Chart.AppVersion $minor) .Chart.AppVersion -}}
{{- end -}}
{{- .Values.scheduler.image | default (printf "%s/scheduler:%s" .Values.image.registry $tag) -}}
{{- end }}

{{/* A file, with what values say in place of what it says. */}}
{{- define "file" -}}
{{- $image := "registry.example/regex-scheduling" -}}
{{- $lease := "resourceNamespace: %s\n  resourceName: %s" -}}
{{- $text := required (printf "the chart lacks files/%s" .path) (.root.Files.Get (printf "files/%s" .path)) -}}
{{- if eq .root.Values.schedulerName "default-scheduler" -}}
{{- $text = $text | replace (printf $lease "regex-scheduling" "custom-scheduler") (printf $lease "kube-system" "kube-scheduler") -}}
{{- end -}}
{{- range $name, $value := dict "custom-scheduler" "scheduler" "extender" "extender" "static-webserver" "staticWebserver" -}}
{{- $alert := printf "job=%q})[10m:]) <" $name -}}
{{- $text = $text | replace (printf "%s 2" $alert) (printf "%s %v" $alert (index $.root.Values $value).replicas) -}}
{{- end -}}
{{- $text
  | replace "namespace=\"regex-scheduling\"" (printf "namespace=%q" .root.Release.Namespace)
  | replace "amespace: regex-scheduling" (printf "amespace: %s" .root.Release.Namespace)
  | replace "metadata.name: regex-scheduling" (printf "metadata.name: %s" .root.Release.Namespace)
  | replace "schedulerName: custom-scheduler" (printf "schedulerName: %s" .root.Values.schedulerName)
  | replace "metadata.name: monitoring" (printf "metadata.name: %s" .root.Values.prometheus.namespace)
  | replace "qps: 100, burst: 200" (printf "qps: %d, burst: %d" (int .root.Values.scheduler.qps) (int .root.Values.scheduler.burst))
  | replace "--decisions=64Mi" (printf "--decisions=%s" .root.Values.scheduler.decisions)
  | replace (printf "%s/scheduler:dev" $image) (include "schedulerImage" .root)
  | replace (printf "%s/" $image) (printf "%s/" .root.Values.image.registry)
  | replace ":dev" (printf ":%s" (.root.Values.image.tag | default .root.Chart.AppVersion)) -}}
{{- end }}

{{/* The configuration of a folder, with the fields of the scheduler's own in it. */}}
{{- define "config" -}}
{{- $text := include "file" (dict "root" .root "path" (printf "%s/config.yaml" .folder)) -}}
{{- if and .root.Values.scheduler.config (hasPrefix "scheduler/" .folder) -}}
{{- mustMergeOverwrite (fromYaml $text) .root.Values.scheduler.config | toYaml -}}
{{- else -}}{{- $text -}}{{- end -}}
{{- end }}

{{/* Changes a Deployment to what values say of its pods. */}}
{{- define "pods" -}}
{{- $values := include "podValues" (dict "root" .root "name" .object.metadata.name) | fromYaml -}}
{{- $pod := .object.spec.template.spec -}}{{- $container := index $pod.containers 0 -}}
{{- if hasKey $values "replicas" -}}{{- $_ := set .object.spec "replicas" $values.replicas -}}{{- end -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" -}}
{{- with get $values $key -}}{{- $_ := set $pod $key . -}}{{- end -}}
{{- end -}}
{{- with $values.image -}}{{- $_ := set $container "image" . -}}{{- end -}}
{{- with $values.resources -}}{{- $_ := set $container "resources" . -}}{{- end -}}
{{- range .root.Values.image.pullSecrets -}}
{{- $_ := set $pod "imagePullSecrets" (append ($pod.imagePullSecrets | default list) (dict "name" .)) -}}
{{- end -}}
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
{{- $labels := merge (dict) $root.Values.labels -}}
{{- range $k.labels -}}{{- $labels = mergeOverwrite $labels .pairs -}}{{- end -}}
{{- range $name := $k.resources -}}
{{- if not (hasPrefix ".." $name) -}}
{{- range regexSplit "(?m)^---$" (include "file" (dict "root" $root "path" (printf "%s/%s" $folder $name))) -1 -}}
{{- $object := fromYaml . -}}
{{- if not (or (regexMatch "^(Cluster|FlowSchema|Validating)" $object.kind) $object.metadata.namespace) -}}{{- $_ := set $object.metadata "namespace" $root.Release.Namespace -}}{{- end -}}
{{- $_ := set $object.metadata "labels" (merge (dict) $labels ($object.metadata.labels | default dict)) -}}
{{- if eq $object.kind "Deployment" -}}
{{- $_ := set $object.spec.template "metadata" (dict "labels" $labels) -}}
{{- include "pods" (dict "root" $root "object" $object) -}}
{{- end -}}
{{- $objects = append $objects $object -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $k.configMapGenerator -}}
{{- $text := include "config" (dict "root" $root "folder" $folder) -}}
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
