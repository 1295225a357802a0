#!/usr/bin/env bash
# Prints those of the given modules that can be had here: what their packages and
# tests import can be downloaded and listed. Those that cannot are named in
# capitals, with the reason.
#
#   tools/served.sh MODULE…
#
# A go.mod that lacks a line is no question of what is served: such a module is
# printed, and fails where it is used.
set -euo pipefail
cd "$(dirname "$0")/.."

for module in "$@"; do
	if problem=$(cd "$module" && go mod download 2>&1 && go list -deps -test ./... 2>&1 >/dev/null) ||
		grep -q 'go mod tidy\|updates to go.mod' <<<"$problem"; then
		echo "$module"
	else
		echo "*** NOT CHECKED: $module/: cannot be had here: $(grep -v '^go: downloading' <<<"$problem" | head -1)" >&2
	fi
done
