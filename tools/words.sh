#!/usr/bin/env bash
# words.sh [PATH…]: fails on words of words.txt in what people read: docs, help, messages, comments, identifiers, of
# which it looks at each word. A line with path:text of words-allowed.txt in it may have one.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- .
found=$(
	git grep -I --null --no-line-number -e '' -- "$@" ':!tools/words*' ':!*/testdata/upstream*' ':!*.wasm' ':!*.sum' ':!*.svg' ':!*LICENSE' |
		perl -ne '
			BEGIN {
				open my $list, "<", "tools/words.txt" or die "tools/words.txt: $!";
				@words = map { /^(.+)\t(.+)$/ ? [qr/\b(?:$1)\b/i, $2] : () } <$list>;
				$any = join "|", map { $_->[0] } @words;
			}
			s/\0\s*/:/;
			($path, $text) = split /:/, $_, 2;
			($split = $text) =~ s/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_/ /g;
			next unless "$text$split" =~ $any;
			chomp;
			for $word (@words) { print "$_  <- say: $word->[1]\n" if "$text$split" =~ $word->[0] }
		' | grep -vFf tools/words-allowed.txt || true
)
[ -z "$found" ] || { printf '%s\n\nWords that CONTRIBUTING.md#words replaces. A line that needs one goes into tools/words-allowed.txt.\n' "$found" >&2; exit 1; }
