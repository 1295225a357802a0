#!/usr/bin/env bash
# Builds KWOK's own program, bin/kwok, and puts the stages that its module has into
# bin/kwok-stages: pod-fast.yaml has those of its kustomize/stage/pod/fast, and so on.
# Where its modules are not served, it says so in capitals, and does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "$(tools/served.sh tools/kwok)" ] || exit 0
mkdir -p bin/kwok-stages
cd tools/kwok
go build -o ../../bin/kwok sigs.k8s.io/kwok/cmd/kwok
for dir in "$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)"/kustomize/stage/*/*/; do
	name=$(basename "$(dirname "$dir")")-$(basename "$dir")
	for file in "$dir"*.yaml; do
		if grep -qs '^kind: Stage$' "$file"; then echo ---; cat "$file"; fi
	done >"../../bin/kwok-stages/$name.yaml"
	[ -s "../../bin/kwok-stages/$name.yaml" ] || rm "../../bin/kwok-stages/$name.yaml"
done
