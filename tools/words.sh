#!/usr/bin/env bash
# words.sh [PATH…]: fails on words of words.txt in what people read: docs, help, messages, comments, identifiers,
# and inside of these: TestWhoIsPushedOut is "Test Who Is Pushed Out".
# A line with path:text of words-allowed.txt in it may have one.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- .
text=$(git grep --no-line-number -Ie '[[:alpha:]]' -- "$@" ':!tools/words*' ':!*/testdata/upstream*' ':!*.wasm' ':!*.sum' ':!*.svg' ':!LICENSE' ':!*/vendor/*' |
	sed -E 's|^([^:]*:)[[:space:]]*|\1|')
# A line, and after a tab the same with the words of its identifiers apart.
lines=$(sed -E 's/^([^:]*):(.*)$/\1:\2\t \2 /; :a; s/(\t.*[a-z0-9])([A-Z])/\1 \2/; ta; :b; s/(\t.*[A-Z])([A-Z][a-z])/\1 \2/; tb' <<<"$text")
found=$(
	while IFS=$'\t' read -r word instead; do
		[ -n "$instead" ] || continue # a comment
		grep -Pi -e "\t.*\W($word)\W" <<<"$lines" | cut -f1 | sed "s|$|  <- say: $instead|" || true
	done <tools/words.txt | grep -vFf tools/words-allowed.txt || true
)
[ -z "$found" ] || { printf '%s\n\nWords that CONTRIBUTING.md#words replaces. A line that needs one goes into tools/words-allowed.txt.\n' "$found" >&2; exit 1; }
