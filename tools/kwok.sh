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
	mapfile -t stages < <(grep -ls '^kind: Stage$' "$dir"*.yaml)
	[ ${#stages[@]} = 0 ] || awk 'FNR == 1 { print "---" } 1' "${stages[@]}" >"../../bin/kwok-stages/$name.yaml"
done
