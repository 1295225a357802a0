#!/usr/bin/env bash
# Makes dist/, a release: each program for each platform, the guests, images for two
# architectures, kubectl's plugin packed for krew, the Helm chart, what each program is made of
# (CycloneDX), the changes, and SHA256SUMS of it all. `make release` calls it.
#
#   tools/release.sh v0.1.0 REGISTRY DOWNLOADS [CHARTS]
#
# REGISTRY stands in the images' names, DOWNLOADS is where the tag's files will be. With
# CHARTS, as oci://registry.example/charts, the chart is also pushed there. A tag v0.0.0-…
# is a trial: the changelog and go.mod need not have it.
# The same commit and the same Go give the same bytes. Where something of it cannot be
# had, or does not build, it fails, and leaves no part of a release.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "release: $*" >&2; }
die() { say "$@"; exit 1; }
sha256=sha256sum
command -v $sha256 >/dev/null || sha256="shasum -a 256" # macOS

tag=${1:-} registry=${2:-} downloads=${3:-} charts=${4:-}
dist=$PWD/dist

# What can be known to be missing is reported before anything is built.
number="(0|[1-9][0-9]*)" identifier="(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)" # of semver
[[ $tag =~ ^v$number\.$number\.$number(-$identifier(\.$identifier)*)?$ ]] || die "TAG=$tag is no version; write it as v0.1.0"
no_git="this is no git checkout, so no commit can be named"
prefix=$(git rev-parse --show-prefix 2>&1) || die "$no_git: $prefix"
[ -z "$prefix" ] || die "$no_git: it is the folder $prefix of another one"
changed=$(git status --porcelain)
[ -z "$changed" ] || die "not everything is committed, so the tag would not name what is built: git status"
if named=$(git rev-parse -q --verify "refs/tags/$tag^{commit}"); then
	[ "$named" = "$(git rev-parse HEAD)" ] || die "the tag $tag is of another commit: git checkout $tag"
fi
refused=$(tools/served.sh . tools tools/helm tools/kubernetes/*.mod 2>&1 >/dev/null) || die "$refused"
[ -z "$refused" ] || die "it would not be whole, so nothing is made: ${refused//\*\*\* NOT CHECKED: /}"
minors=$(make -s minors)

part=${tag#v}
case $tag in
v0.0.0-*) part=Unreleased ;;
*)
	others=$(grep -E "^\s(wasmkwokwizardry\.io/regex-scheduling/[a-z]+) v" go.mod tools/kubernetes/*.mod | grep -v " $tag\$") &&
		die "importers get modules that do not exist, since they do not get replace; require $tag of each: "$others
	;;
esac
changes=$(awk -v part="$part" '/^## / { on = $2 == part; next } on' CHANGELOG.md)
[ "$changes" ] || die "CHANGELOG.md says nothing under \"## $part\"; TAG=v0.0.0-trial takes what it has as Unreleased"

rm -rf "$dist"
trap 'rm -rf "$dist"; say "it failed, see above: dist/ is removed"' EXIT # a part must not pass for the whole
mkdir -p "$dist/images" "$dist/sbom"
echo "$changes" >"$dist/CHANGES.md"

# build makes a program for each of some platforms: dist/PROGRAM-OS-ARCH. What
# follows the program's name is for make.
build() {
	local program=$1 platform out
	for platform in $2; do
		out=$dist/$program-${platform/\//-}
		case $platform in windows/*) out=$out.exe ;; esac
		say "$(basename "$out")"
		GOOS=${platform%/*} GOARCH=${platform#*/} make -s program PROGRAM="${program%-kubernetes-*}" OUT="$out" TAG="$tag" "${@:3}"
	done
}

linux="linux/amd64 linux/arm64"
unix="$linux darwin/amd64 darwin/arm64"
for minor in $minors; do
	build "scheduler-kubernetes-$minor" "$linux" KUBERNETES="$minor"
done
build simulator "$unix"
build extender "$unix"
build kubectl-regex "$unix windows/amd64 windows/arm64"
build guest "$unix windows/amd64 windows/arm64"
cp static/regex_v1.wasm static/regex_v2.wasm "$dist"

(cd tools && go run ./krew "$tag" "$downloads" "$dist" ../LICENSE ../cmd/kubectl-regex/kubectl_complete-regex)
make -s helm
tools/chart.sh "$tag" "$registry" "$dist"

# bill writes what a program or a guest is made of, unless that is there. With --image: its image.
bill() {
	local bill=$dist/sbom/$2.cdx.json
	[ -f "$bill" ] || (cd tools && go run ./sbom ${3:-} "$tag" "$1" "$bill")
}
for minor in $minors; do # the chart and docs/deploy.md name these
	make -s images REGISTRY="$registry" TAG="$tag" ARCH="amd64 arm64" KUBERNETES="$minor" IMAGE_FOLDER="$dist/images"
	for image in "$dist"/images/*.tar; do
		image=$(basename "$image" .tar)
		for arch in amd64 arm64; do
			bill "$PWD/bin/linux-$arch/${image%-kubernetes-*}" "image-$image-linux-$arch" --image
		done
	done
done
for program in "$dist"/*-{linux,darwin,windows}-{amd64,arm64}{,.exe}; do
	[ ! -f "$program" ] || bill "$program" "$(basename "$program")" # of all these platforms
done
for guest in regex_v1.wasm regex_v2.wasm; do
	bill "$PWD/static/$guest" "$guest"
done

(cd "$dist" && find . -type f ! -name SHA256SUMS | sed 's,^\./,,' | LC_ALL=C sort | xargs $sha256 >SHA256SUMS)
trap - EXIT
say "$dist: $(wc -l <"$dist/SHA256SUMS") files"
[ -z "$charts" ] || bin/helm push "$dist/regex-scheduling-${tag#v}.tgz" "$charts"
