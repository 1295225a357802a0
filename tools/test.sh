#!/usr/bin/env bash
# Runs each of the given tests, also after one that fails, and says at its end which
# failed, with the lines in which go test says so.
#
#   tools/test.sh 'NAME: COMMAND'…
set -uo pipefail

output=$(mktemp)
trap 'rm -f "$output"' EXIT
trap exit INT # go test ends by itself then, and the next one would begin

failures=
for test in "$@"; do
	echo "${test%%: *}: go test"
	bash -c "${test#*: }" 2>&1 | tee "$output" && continue
	failures+="${test%%: *}"$'\n'$(grep -E '^ *--- FAIL|^FAIL.|^panic: ' "$output" | sed 's/^/    /')$'\n'
done
[ -z "$failures" ] || { printf '\nFAILED:\n%s' "$failures"; exit 1; }
