#!/usr/bin/env bash
# Prints the module file, bin/next.mod, with which the project can be built from a version of
# Kubernetes that is none of its minors yet, such as a release candidate. It is the one of the last
# minor with other versions. If the version cannot be had here, that is said in capitals, with
# the reason, and nothing is printed.
#
#   tools/next.sh VERSION MINOR
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1 last=tools/kubernetes/$2.mod next=bin/next.mod
case $version in
v1.*) ;;
*) echo "next: '$version' is no version of Kubernetes; write make test-next NEXT=v1.38.0-rc.0" >&2; exit 2 ;;
esac
of_last=$(awk '$1 == "k8s.io/kubernetes" { print $2 }' "$last")
made=$(sed -E "s/ v0${of_last#v1}( |$)/ v0${version#v1}\1/; s/ $of_last( |$)/ $version\1/" "$last")
required=$(awk -v staging="v0${version#v1}" -v version="$version" '$2 == staging || $2 == version { print $1 "@" $2 }' <<<"$made")

# Outside of this module, whose replace lines have the versions of another minor. A list, unquoted.
# shellcheck disable=SC2086
if ! problem=$(cd / && go mod download $required 2>&1); then
	echo "*** NOT CHECKED: Kubernetes $version: cannot be had here: $(grep -v '^go: downloading' <<<"$problem" | head -1)" >&2
	exit 0
fi
mkdir -p bin
cat <<<"$made" >$next
cp "${last%.mod}.sum" ${next%.mod}.sum
go mod tidy -modfile=$next >&2
echo $next
