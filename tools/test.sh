#!/usr/bin/env bash
# Runs each of the given tests, also after one that fails, and says at its end what was
# not tested here, and which tests failed, with the lines in which go test says so.
#
#   tools/test.sh 'NAME: COMMAND'…
#
# COMMAND has go test -json, and prints *** NOT TESTED: … or *** NOT CHECKED: … of what this machine lacks.
set -uo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap exit INT # go test ends by itself then, and the next one would begin
go -C "$(dirname "$0")" build -o "$folder/testoutput" ./testoutput || exit

# Tests that lack something read it, so that go test runs them again when something is installed.
INSTALLED=$(IFS=: && ls -ld $PATH 2>/dev/null | cksum)
export INSTALLED

failures=
for test in "$@"; do
	echo "${test%%: *}: go test"
	bash -c "${test#*: }" 2>&1 | "$folder/testoutput" | tee "$folder/output"
	codes=("${PIPESTATUS[@]}")
	grep -oE '\*\*\* NOT (TESTED|CHECKED): .*' "$folder/output" >>"$folder/lacks"
	[ "${codes[*]}" != "0 0 0" ] || continue
	failures+="${test%%: *}"$'\n'$(grep -E '^ *--- FAIL|^FAIL.|^panic: ' "$folder/output" | sed 's/^/    /')$'\n'
done
[ ! -s "$folder/lacks" ] || { echo && sort -u "$folder/lacks"; }
[ -z "$failures" ] || { printf '\nFAILED:\n%s' "$failures"; exit 1; }
