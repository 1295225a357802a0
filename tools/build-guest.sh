#!/usr/bin/env bash
# Builds one guest, the module of that name in the current folder: the only place
# that knows how. tools/README.md explains each flag.
#
#   tools/build-guest.sh v2 static/regex_v2.wasm
#   tools/build-guest.sh versions    what the bytes of a guest depend on
set -euo pipefail

stack=1048576  # bytes
memory=4194304 # bytes when a guest starts; a multiple of 64 KiB

tools=$(cd "$(dirname "$0")" && pwd)
root=${tools%/*}
tinygo=$root/.tools/bin/tinygo

die() { echo "build-guest: $*" >&2; exit 1; }

[ -x "$tinygo" ] || die "no TinyGo in .tools/bin; run: make tools"

# The target of our own TinyGo; an official release has all of it built in.
target=$tools/guest.json
[ -d "$root/.tools/tinygo" ] || target=wasip1

# Guests contain parts of Go's library, so the Go version is pinned too; the
# caller's own flags and workspace must not matter.
GOTOOLCHAIN=$(sed -n 's/^toolchain //p' "$tools/tinygo/go.mod")
export GOTOOLCHAIN GOFLAGS=-buildvcs=false GOWORK=off
unset GOOS GOARCH

wasm_opt=$("$tinygo" env TINYGOROOT)/bin/wasm-opt
[ -x "$wasm_opt" ] || wasm_opt=wasm-opt

versions() {
	"$tinygo" version
	"$wasm_opt" --version
	if [ "$target" != wasip1 ]; then
		sed -n 's/.*"\(\/.*\.a\)".*/\1/p' "$target" | xargs cksum
		wasm-ld-19 --version
	fi
}

# check fails unless the guest has the stack and the memory that it should
# have: -stack-size and default-stack-size are silently ignored on Wasm.
check() {
	local text
	text=$("$wasm_opt" --all-features --print -o /dev/null "$1")
	grep -q "(global \$__stack_pointer (mut i32) (i32.const $stack))" <<<"$text" ||
		die "$2: the stack is not $stack bytes: $(grep -m1 '__stack_pointer (mut' <<<"$text")"
	grep -Eq "^ *\(memory \S+ $((memory / 65536))\)" <<<"$text" ||
		die "$2: the initial memory is not $memory bytes: $(grep -m1 '^ *(memory' <<<"$text")"
}

case ${1:-} in
versions) versions; exit ;;
v1) flags=(-gc=precise) ;;
v2) flags=(-gc=custom -tags=custommalloc -panic=trap) ;;
*) die "usage: build-guest.sh v1|v2 OUTPUT.wasm, or build-guest.sh versions" ;;
esac
output=${2:?usage: build-guest.sh v1|v2 OUTPUT.wasm}

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
(cd "$1" && "$tinygo" build -o "$temp/$1.wasm" -target="$target" "${flags[@]}" \
	-scheduler=none -no-debug -opt=2 -buildmode=wasi-legacy \
	-ldflags "-extldflags '-z stack-size=$stack --initial-memory=$memory'" .)
check "$temp/$1.wasm" "$1"
mkdir -p "$(dirname "$output")"
cp "$temp/$1.wasm" "$output"
