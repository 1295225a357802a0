#!/usr/bin/env bash
# Prints what the tests of each package cost, in seconds of CPU time, the most first:
#
#   tools/test-cost.sh [PACKAGE…]
#
# CPU time, which a busy machine changes less than wall time. Processes that a test
# starts and waits for are counted. Flags for go test are in TEST_FLAGS.
set -euo pipefail

if [ "${COSTS:-}" ]; then # go test -exec: "$@" is a test binary, in its package's folder
	code=0
	"$@" || code=$?
	times >"$COSTS.$$" # not in a pipe: a subshell has used nothing
	awk -v folder="${PWD#"$ROOT/"}" 'NR == 2 {
		split($0, t, /[ms ]+/)
		printf "%.1f\t%s\n", t[1] * 60 + t[2] + t[3] * 60 + t[4], folder
	}' "$COSTS.$$" >>"$COSTS"
	exit $code
fi

cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- ./...
export ROOT=$PWD COSTS
COSTS=$(mktemp)
trap 'rm -f "$COSTS"*' EXIT
go test -vet=off -count=1 -exec "$PWD/tools/test-cost.sh" ${TEST_FLAGS:-} "$@" >&2 || echo "test-cost: some tests fail" >&2
echo "| package | CPU time, s |"
echo "|---|--:|"
sort -rn "$COSTS" | awk -F '\t' '{ printf "| `%s` | %s |\n", $2, $1 }'
