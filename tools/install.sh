#!/usr/bin/env bash
# Installs the tools that go.mod here, in lint/ and in tinygo/ pin into .tools/bin.
#
#   tools/install.sh golangci-lint   needs Go only
#   tools/install.sh govulncheck     likewise
#   tools/install.sh tinygo          needs LLVM 19, which apt.sh installs on Debian and Ubuntu if asked
#
# Each leaves a stamp of what it was made from, and does nothing while that holds.
# Exit code 3: TinyGo cannot be had on this machine, for the reason that is printed.
set -euo pipefail
cd "$(dirname "$0")"

tools=$PWD
out=$(cd .. && pwd)/.tools
packages="llvm-19-dev libclang-19-dev clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32 binaryen g++"
export GOFLAGS=-buildvcs=false GOWORK=off

say() { echo "tools: $*" >&2; }
die() { say "$@"; exit 1; }
unavailable() { say "$@"; exit 3; }

command -v go >/dev/null || die "go is not on PATH; install it from https://go.dev/dl/"

# module prints the folder of what pins a tool. TinyGo has one of its own, so that where
# it is unavailable the others are not; golangci-lint, since it needs two hundred modules.
module() {
	case $1 in
	golangci-lint) echo lint ;;
	tinygo) echo tinygo ;;
	*) echo . ;;
	esac
}

# key prints what an installation depends on: the pins, this script, Go, and for
# TinyGo the packages that it is linked against.
key() {
	cat "$(module "$1")"/go.{mod,sum} install.sh | cksum
	go env GOVERSION
	if [ "$1" = tinygo ]; then
		package_versions 2>/dev/null || command -v tinygo || true
	fi
}

# package_versions fails unless every package is installed.
package_versions() {
	local found
	# shellcheck disable=SC2086 # a list
	found=$(dpkg-query -W -f='${Package} ${Version} ${db:Status-Status}\n' $packages) &&
		! grep -qv ' installed$' <<<"$found" &&
		echo "$found"
}

have_packages() {
	# shellcheck disable=SC2086
	package_versions >/dev/null 2>&1 || { "$tools/apt.sh" $packages && package_versions >/dev/null; }
}

# build_tinygo compiles TinyGo and lays out the TINYGOROOT that it looks for
# beside itself. A module zip has no submodules, so src/net is left empty, and
# the files are copies because TinyGo does not follow links.
build_tinygo() {
	local home=$out/tinygo source
	say "building TinyGo, about a minute"
	source=$(cd tinygo && go list -m -f '{{.Dir}}' github.com/tinygo-org/tinygo)
	rm -rf "$home"
	mkdir -p "$home/bin"
	(cd tinygo && CGO_ENABLED=1 go build -trimpath -tags llvm19 -o "$home/bin/tinygo" github.com/tinygo-org/tinygo)
	cp -R "$source/src" "$source/targets" "$home"
	chmod -R u+w "$home"
	mkdir -p "$home/src/net"
	ln -sf ../tinygo/bin/tinygo "$out/bin/tinygo"
}

# official prints the path of an official TinyGo 0.41 release on PATH.
official() {
	local path
	path=$(command -v tinygo) && "$path" version | grep -q 'version 0\.41\.' && echo "$path"
}

install_tinygo() {
	local path downloaded=yes
	if command -v apt-get >/dev/null; then
		(cd tinygo && go mod download github.com/tinygo-org/tinygo) || downloaded=
	fi
	if [ "$downloaded" ] && have_packages; then
		build_tinygo
	elif path=$(official); then
		say "using $path; its guests need not have the bytes of the committed ones (tools/README.md)"
		rm -rf "$out/tinygo"
		rm -f "$out/bin/tinygo"
		printf '#!/bin/sh\nexec "%s" "$@"\n' "$path" >"$out/bin/tinygo"
		chmod +x "$out/bin/tinygo"
	elif [ -z "$downloaded" ]; then
		unavailable "the source of TinyGo cannot be downloaded, see above"
	elif command -v apt-get >/dev/null; then
		unavailable "TinyGo needs these packages (Debian 12, Ubuntu 24.04 or newer)"
	elif command -v brew >/dev/null; then
		unavailable "no TinyGo 0.41 on PATH. Run this, then make tools again:
  brew tap tinygo-org/tools && brew install tinygo"
	else
		unavailable "no TinyGo 0.41 on PATH. Install an official release, https://tinygo.org/getting-started/install/, then run: make tools"
	fi
	"$out/bin/tinygo" version >&2
}

install_golangci-lint() { build_with_go github.com/golangci/golangci-lint/v2/cmd/golangci-lint; }
install_govulncheck() { build_with_go golang.org/x/vuln/cmd/govulncheck; }

build_with_go() {
	say "building $what"
	(cd "$(module "$what")" && CGO_ENABLED=0 go build -trimpath -o "$out/bin/" "$1")
}

what=${1:-}
case $what in
golangci-lint | govulncheck | tinygo) ;;
*) die "usage: tools/install.sh golangci-lint|govulncheck|tinygo" ;;
esac

mkdir -p "$out/bin"
stamp=$out/$what.stamp
if [ -x "$out/bin/$what" ] && [ -f "$stamp" ] && [ "$(key "$what")" = "$(cat "$stamp")" ]; then
	exit
fi
rm -f "$stamp"
"install_$what"
key "$what" >"$stamp"
