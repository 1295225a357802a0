#!/usr/bin/env bash
# Installs packages of Debian or Ubuntu: in CI, or where INSTALL is set, as in make tools INSTALL=1. If not, it prints the command.
# It fails unless all of them are installed afterwards.
#
#   tools/apt.sh chromium
set -euo pipefail

command -v apt-get >/dev/null || exit 1
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
if [ -z "${CI:-}${INSTALL:-}" ]; then
	echo "missing packages; run this, or the same make with INSTALL=1:
  ${as_root[*]:+${as_root[*]} }sh -c 'apt-get update && apt-get install -y --no-install-recommends $*'" >&2
	exit 1
fi
[ -t 0 ] || [ "$(id -u)" = 0 ] || as_root=(sudo -n) # no terminal: sudo may not ask for a password
echo "installing $*" >&2
"${as_root[@]}" apt-get -q update >/dev/null || echo "apt-get update failed; trying with the lists that are there" >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$@" >/dev/null
