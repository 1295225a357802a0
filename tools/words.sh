#!/usr/bin/env bash
# words.sh [PATH…]: fails on words of words.txt in what people read: docs, help, messages, comments, identifiers.
# A line with path:text of words-allowed.txt in it may have one.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- .
found=$(
	while IFS=$'\t' read -r word instead; do
		[ -n "$instead" ] || continue # a comment
		git grep --no-line-number -Eiw -e "$word" -- "$@" ':!tools/words*' ':!*/testdata/upstream*' ':!*.wasm' ':!*.sum' ':!*.svg' ':!LICENSE' |
			sed -E "s|^([^:]*:)[[:space:]]*|\1|; s|$|  <- say: $instead|" || true
	done <tools/words.txt | grep -vFf tools/words-allowed.txt || true
)
[ -z "$found" ] || { printf '%s\n\nWords that CONTRIBUTING.md#words replaces. A line that needs one goes into tools/words-allowed.txt.\n' "$found" >&2; exit 1; }
