#!/usr/bin/env bash
# Prints those of the given modules that can be had here: what their packages and
# tests import can be downloaded and listed. Modules that cannot are named in
# capitals, with the reason.
#
#   tools/served.sh MODULE…
#
# A MODULE is a folder, or a module file in tools/kubernetes.
# A go.mod that lacks a line is no question of what is served: such a module is
# printed, and fails where it is used.
set -euo pipefail
cd "$(dirname "$0")/.."

for module in "$@"; do
	folder=$module flags=${GOFLAGS:-} minor=$(basename "$module" .mod)
	case $module in *.mod) folder=. flags+=" -modfile=$module -tags=kubernetes_${minor/./_}" ;; esac
	if problem=$(cd "$folder" && export GOFLAGS=$flags && go mod download 2>&1 && go list -deps -test ./... 2>&1 >/dev/null) ||
		grep -qE 'go mod tidy|updates to go.mod' <<<"$problem"; then
		echo "$module"
	else
		[ "$folder" = "$module" ] && module+=/
		echo "*** NOT CHECKED: $module: cannot be had here: $(grep -v '^go: downloading' <<<"$problem" | head -1)" >&2
	fi
done
