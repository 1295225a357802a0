#!/usr/bin/env bash
# Fails unless the committed guests are what their source builds to, so that
# nobody has to trust a binary.
#
#   tools/verify-guests.sh                      rebuilds both guests and compares
#   tools/verify-guests.sh compare DIR BUILT…   only compares folders of guests
#
# The rebuild starts from nothing, in two copies of the source whose folders
# have different names, so a path that creeps into a guest is found here.
set -euo pipefail

tools=$(cd "$(dirname "$0")" && pwd)
root=${tools%/*}
guests="v1 v2"
source="go.mod go.sum guest regex v1 v2" # what a guest may be made of

describe() {
	[ -f "$1" ] || { echo "missing"; return; }
	echo "$(wc -c <"$1" | tr -d ' ') bytes, sha256 $(sha256 "$1")"
}

sha256() {
	if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
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

if [ "${1:-}" = compare ]; then
	shift
	compare "$@" >&2
	exit
fi

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

# TinyGo's cache is new, or it could hide a change; Go's own is kept.
GOCACHE=$(go env GOCACHE)
export GOCACHE XDG_CACHE_HOME=$temp/cache

rebuild a & first=$!
rebuild another-longer-name & second=$!
failed=0
wait $first || failed=1
wait $second || failed=1
[ $failed = 0 ] || { echo "verify-guests: a guest does not build" >&2; exit 1; }

cd "$root"
if ! compare static "$temp/a" "$temp/another-longer-name" >&2; then
	explain >&2
	exit 1
fi
for guest in $guests; do
	echo "static/regex_$guest.wasm: as built from source twice, $(describe "static/regex_$guest.wasm")"
done
