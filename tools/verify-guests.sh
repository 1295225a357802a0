#!/usr/bin/env bash
# Fails unless the committed guests are what their source builds to, so that
# one need not have to trust a binary.
#
#   tools/verify-guests.sh                      compares with the record, rebuilds and compares
#   tools/verify-guests.sh compare DIR BUILT…   only compares folders of guests
#   tools/verify-guests.sh recorded             only compares guests and source with the record
#   tools/verify-guests.sh record               writes the record: what was built from what
#
# The record, static/sources.txt, is compared everywhere. Where TinyGo cannot be
# had it is all that can be; otherwise the guests are rebuilt.
#
# The rebuild starts from nothing, in two copies of the source whose folders
# have different names, so a path that creeps into a guest is found here.
set -euo pipefail

tools=$(cd "$(dirname "$0")" && pwd)
root=${tools%/*}
guests="v1 v2"
source="guest regex v1 v2" # what a guest may be made of
record=static/sources.txt

describe() {
	[ -f "$1" ] || { echo "missing"; return; }
	echo "$(wc -c <"$1" | tr -d ' ') bytes, sha256 $(sha256 "$1")"
}

sha256() {
	if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

# recorded_files lists what the record is about: the guests, the source that goes
# into them, and how they are built. What only tests use is not among it.
recorded_files() {
	# shellcheck disable=SC2086 # a list
	find $source -type f ! -name '*_test.go' ! -path 'guest/guesttest/*' ! -path 'guest/rust/*' ! -path '*/testdata/*' ! -path 'regex/regextest/*'
	printf '%s\n' static/*.wasm tools/build-guest.sh tools/guest.json tools/toolchain.txt tools/tinygo/go.{mod,sum}
}

# write_record has the form that sha256sum -c reads.
write_record() {
	local file
	recorded_files | LC_ALL=C sort | while read -r file; do
		echo "$(sha256 "$file")  $file"
	done
}

# compare_record names every file that is not what the record says.
compare_record() {
	local changed
	[ -f $record ] || { echo "$record is missing; run: make guests"; return 1; }
	write_record >"$temp/record"
	changed=$({ diff $record "$temp/record" || true; } | sed -n 's/^[<>] [0-9a-f]*  //p' | sort -u)
	[ -z "$changed" ] && cmp -s $record "$temp/record" && return
	echo "The guests were not made from what is here, by $record:"
	while read -r file; do
		[ -n "$file" ] || continue
		if [ ! -f "$file" ]; then echo "  $file is gone"
		elif ! grep -q "  $file\$" $record; then echo "  $file is new"
		else echo "  $file has changed"; fi
	done <<<"$changed"
	echo "Run 'make guests' and commit static/ and tools/toolchain.txt with it (CONTRIBUTING.md)."
	return 1
}

# compare FOLDER BUILT… names every guest of FOLDER that differs from a built one.
compare() {
	local folder=$1 status=0 guest built file
	shift
	for guest in $guests; do
		file=regex_$guest.wasm
		for built in "$@"; do
			cmp -s "$folder/$file" "$built/$file" && continue
			status=1
			echo "$folder/$file is not what its source builds to:"
			echo "  committed: $(describe "$folder/$file")"
			echo "  rebuilt:   $(describe "$built/$file"), in ${built##*/}"
		done
	done
	return $status
}

explain() {
	echo
	if diff "$tools/toolchain.txt" <("$tools/build-guest.sh" versions) >"$temp/toolchain.diff"; then
		echo "The toolchain is the one that made the committed guests, so their source has changed."
		echo "Run 'make guests' and commit static/*.wasm with it (CONTRIBUTING.md)."
	else
		echo "The toolchain is not the one that made the committed guests (<: made them; >: is here), which"
		echo "alone changes bytes. See tools/README.md, \"What the bytes depend on\"."
		cat "$temp/toolchain.diff"
	fi
}

rebuild() {
	local copy=$1 guest
	mkdir -p "$temp/$copy"
	# shellcheck disable=SC2086 # a list
	(cd "$root" && cp -R $source "$temp/$copy")
	cd "$temp/$copy"
	for guest in $guests; do
		"$tools/build-guest.sh" "$guest" "regex_$guest.wasm" || return
	done
}

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

case ${1:-} in
compare) shift; compare "$@" >&2; exit ;;
record) cd "$root"; write_record >"$temp/record"; cp "$temp/record" $record; exit ;;
recorded) cd "$root"; compare_record >&2; exit ;;
esac

cd "$root"
compare_record >&2
echo "static/: the guests and their source are the ones of $record"

status=0
"$tools/install.sh" tinygo || status=$?
if [ $status = 3 ]; then
	cat >&2 <<-'END'

	  **************************************************************************
	  NOT REBUILT: TinyGo cannot be had here, for the reason above. Guests and
	  source are the ones of the record, so nothing was changed without the other;
	  that the one builds to the other is seen where TinyGo can be had.
	  **************************************************************************

	END
	exit
fi
[ $status = 0 ] || exit $status

# TinyGo's cache is new, or it could hide a change; Go's own is kept.
GOCACHE=$(go env GOCACHE)
export GOCACHE XDG_CACHE_HOME=$temp/cache

rebuild a & first=$!
rebuild another-longer-name & second=$!
failed=0
wait $first || failed=1
wait $second || failed=1
[ $failed = 0 ] || { echo "verify-guests: a guest does not build" >&2; exit 1; }

if ! compare static "$temp/a" "$temp/another-longer-name" >&2; then
	explain >&2
	exit 1
fi
for guest in $guests; do
	echo "static/regex_$guest.wasm: as built from source twice, $(describe "static/regex_$guest.wasm")"
done
