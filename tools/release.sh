#!/usr/bin/env bash
# Makes dist/, a release: each program for each platform, the guests, images for two
# architectures, kubectl's plugin packed for krew, what each program is made of
# (CycloneDX), the changes, and SHA256SUMS of it all. `make release` calls it.
#
#   tools/release.sh v0.1.0 REGISTRY DOWNLOADS
#
# REGISTRY stands in the images' names, DOWNLOADS is where the tag's files will be.
# The same commit and the same Go give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "release: $*" >&2; }
die() { say "$@"; exit 1; }

tag=${1:-} registry=${2:-} downloads=${3:-}
[[ $tag =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || die "TAG=$tag is no version; write it as v0.1.0"
[ -z "$(git status --porcelain)" ] || die "not everything is committed, so the tag would not name what is built: git status"

dist=$PWD/dist
rm -rf "$dist"
mkdir -p "$dist/images" "$dist/sbom"

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
for minor in $(make -s minors); do
	build "scheduler-kubernetes-$minor" "$linux" KUBERNETES="$minor"
done
build simulator "$unix"
build extender "$unix"
build kubectl-regex "$unix windows/amd64 windows/arm64"
build guest "$unix windows/amd64 windows/arm64"
cp static/regex_v1.wasm static/regex_v2.wasm "$dist"

tools/krew.sh "$tag" "$downloads" "$dist"
make -s images REGISTRY="$registry" TAG="$tag" ARCH="amd64 arm64" IMAGE_FOLDER="$dist/images"

if [ "$(tools/served.sh tools/sbom)" ]; then
	(cd tools/sbom && go build -o "$dist/sbom/" github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod)
	for program in "$dist"/*-{linux,darwin,windows}-{amd64,arm64}{,.exe}; do
		[ -f "$program" ] || continue
		bill=$dist/sbom/$(basename "$program").cdx.json
		"$dist/sbom/cyclonedx-gomod" bin -json -std -noserial -version "$tag" -output "$bill" "$program"
		sed -i.bak '/^    "timestamp": /d' "$bill" && rm "$bill.bak" # the same bytes tomorrow
	done
	rm "$dist/sbom/cyclonedx-gomod"
fi

# The part of the changelog that has the version, or what is not released yet.
grep -q "^## ${tag#v}\b" CHANGELOG.md && part=${tag#v} || part=Unreleased
awk -v part="$part" '/^## / { on = index($0, "## " part) == 1; next } on' CHANGELOG.md >"$dist/CHANGES.md"

(cd "$dist" && find . -type f ! -name SHA256SUMS | sed 's,^\./,,' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
say "$dist: $(wc -l <"$dist/SHA256SUMS") files"
