#!/usr/bin/env bash
# words.sh [PATH…]: fails on words of tools/words.txt in what people read: docs, help, messages, comments, identifiers.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- .
found=$(while IFS=$'\t' read -r word instead; do
	case $word in '#'* | '') continue ;; esac
	git grep -nEiw -e "$word" -- "$@" \
		':!CHANGELOG.md' ':!tools/words*' ':!*/testdata/upstream*' ':!*.wasm' ':!*.sum' ':!*.svg' ':!LICENSE' |
		sed "s|^|say \"$instead\": |" || true
done <tools/words.txt | awk '
	NR == FNR { if ($0 !~ /^#/ && NF) allowed[$0]; next }
	{ line = $0; sub(/^say "[^"]*("x"[^"]*)?": /, "", line); path = line; sub(/:.*/, "", path)
	  sub(/^[^:]*:[0-9]+:[ \t]*/, "", line); if (!((path ":" line) in allowed)) print }' tools/words-allowed.txt -)
[ -z "$found" ] || { printf '%s\n\n%s\n' "$found" "words that the glossary replaces (CONTRIBUTING.md); a line that needs one goes into tools/words-allowed.txt" >&2; exit 1; }
