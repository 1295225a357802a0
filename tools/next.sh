#!/usr/bin/env bash
# Makes the module file, bin/next.mod, with which the project can be built from a version of Kubernetes that is none of its
# minors yet. It is the module file of the last minor with other versions. v1.38 stands for the newest version of that minor,
# which may be a pre-release. Prints what make needs: the version, its build tag, or else the newest one, and the
# toolchain, a later one if the version asks for it. If modules cannot be had here, that is said in capitals, with
# their names, and nothing is printed.
#
#   tools/next.sh VERSION MINOR
set -euo pipefail
cd "$(dirname "$0")/.."

asked=$1 version=$1 last=tools/kubernetes/$2.mod next=bin/next.mod
case $version in
v1.*) ;;
*) echo "next: '$version' is no version of Kubernetes; write make test-next NEXT=v1.38, or NEXT=v1.38.0-rc.0" >&2; exit 2 ;;
esac

refused() { # REASON: the names of modules in what go says, or else its first line
	local names
	names=$(grep -oE '[^ "]+@[^ ]+: (reading|module lookup disabled)' <<<"$1" | sed 's/: .*//' | sort -u | paste -sd " " - || true)
	echo "*** NOT CHECKED: Kubernetes $asked: cannot be had here: ${names:-$(grep -v "^go: downloading" <<<"$1" | head -1)}" >&2
	exit 0
}

# Outside of this module, whose replace lines have the versions of another minor.
outside() { (cd / && go "$@" 2>&1); }

# GOTOOLCHAIN=auto does not look into the file of -modfile.
case $(go env GOTOOLCHAIN) in *auto) export GOTOOLCHAIN=local ;; esac

if [[ $version =~ ^v1\.[0-9]+$ ]]; then
	served=$(outside list -m -versions k8s.io/kubernetes) || refused "$served"
	version=$(tr ' ' '\n' <<<"$served" | grep "^$asked\." | tail -1) || refused "k8s.io/kubernetes has no such version"
fi
if ! got=$(outside mod download -json "k8s.io/kubernetes@$version"); then
	later=$(sed -nE 's/.*requires go (>|\\u003e)= ([0-9.]+).*/\2/p' <<<"$got" | head -1)
	[ -n "$later" ] || refused "$got"
	export GOTOOLCHAIN=go$later
	got=$(outside mod download -json "k8s.io/kubernetes@$version") || refused "$got"
fi

# The modules that are developed in its tree: some may be new.
staging=v0${version#v1} of_last=$(awk '$1 == "k8s.io/kubernetes" { print $2 }' "$last")
gomod=$(sed -nE 's/.*"GoMod": "(.*)",?$/\1/p' <<<"$got")
mkdir -p bin
sed -E "s/ v0${of_last#v1}( |$)/ $staging\1/; s/ $of_last( |$)/ $version\1/" "$last" >$next
cp "${last%.mod}.sum" ${next%.mod}.sum
sed -nE 's/^[[:space:]]*(k8s\.io\/[a-z-]+) => .*/\1/p' "$gomod" | while read -r module; do
	grep -q "$module =>" $next || echo "replace $module => $module $staging" >>$next
done

if ! problem=$(go mod tidy -modfile=$next 2>&1); then
	! grep -qE ': (reading|module lookup disabled)' <<<"$problem" || refused "$problem"
	echo "$problem" >&2
	exit 1
fi
tags=$(grep -rhoE 'kubernetes_1_[0-9]+' internal/minor | sort -Vu)
own=$(sed -E 's/v1\.([0-9]+).*/kubernetes_1_\1/' <<<"$version")
tag=$(grep -x "$own" <<<"$tags" || tail -1 <<<"$tags")
echo "NEXT=$version TAG_OF_NEXT=$tag GOTOOLCHAIN=$(go env GOTOOLCHAIN)"
