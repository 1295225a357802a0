#!/usr/bin/env bash
# go build, which says how far it is where much has to be compiled, as all of Kubernetes the first time.
#
#   tools/build.sh OUT PACKAGE [FLAG…]
set -euo pipefail

out=$1 package=$2
shift 2

# progress counts the packages that go build -v names. Errors and downloads it prints as they are.
progress() {
	local line built=0 all=
	while IFS= read -r line; do
		if [[ -z $line || $line == *[[:space:]]* ]]; then
			echo "$line" >&2
			continue
		fi
		built=$((built + 1))
		if [ $built -lt 50 ]; then continue; fi # a change of this project compiles fewer
		if [ -z "$all" ]; then
			all=$(go list -deps "$@" "$package" | wc -l)
			echo "$package: compiling up to $((all)) packages, once" >&2
		fi
		if [ -t 2 ]; then
			printf '\rcompiled %d of %d packages' "$built" "$all" >&2
		elif [ $((built % 100)) = 0 ]; then
			echo "compiled $built of $((all)) packages" >&2
		fi
	done
	if [ "$all" ] && [ -t 2 ]; then echo >&2; fi
}

go build -v "$@" -o "$out" "$package" 2>&1 | progress "$@"
