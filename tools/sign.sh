#!/usr/bin/env bash
# Signs dist/, a release, with a key of cosign (version 3, on PATH): the guests, for
# schedulers that verify them, and SHA256SUMS, which has the digest of every file. A second
# signature of SHA256SUMS is on a statement of how the release was built (SLSA provenance,
# https://slsa.dev/spec/v1.0/provenance). `make sign` calls it.
#
#   tools/sign.sh KEY [FLAG…]
#
# FLAGs are cosign's, such as --use-signing-config=false --tlog-upload=false where Sigstore's
# services cannot be reached: then cosign verifies with --private-infrastructure
# (docs/install.md). BUILDER is a URI of who builds.
set -euo pipefail
cd "$(dirname "$0")/.."

die() { echo "sign: $*" >&2; exit 1; }

[ $# -gt 0 ] || die "no key; write make sign KEY=cosign.key, a file of cosign generate-key-pair, or a KMS that cosign knows"
command -v cosign >/dev/null || die "cosign is not on PATH: https://docs.sigstore.dev/cosign/system_config/installation/"
[ -f dist/SHA256SUMS ] || die "there is no release in dist/: make release TAG=v…"
tag=$(sed -n 's/.*  regex-scheduling-\(.*\)\.tgz$/v\1/p' dist/SHA256SUMS) # of the chart's name
commit=$(git rev-parse HEAD)
[ "$(git rev-parse -q --verify "refs/tags/$tag^{commit}")" = "$commit" ] || die "the tag $tag of dist/ is not here, or not of this commit: git tag -a $tag, or git checkout $tag"
key=$1
case $key in *://*) ;; *) [ -f "$key" ] || die "there is no key $key"; key=$(cd "$(dirname "$key")" && pwd)/$(basename "$key") ;; esac
shift

source=$(git config --get remote.origin.url | sed 's,//[^/@]*@,//,' || true) # without a password
provenance=$(mktemp)
trap 'rm -f "$provenance"' EXIT
cat >"$provenance" <<END
{
  "buildDefinition": {
    "buildType": "https://wasmkwokwizardry.io/regex-scheduling/make-release/v1",
    "externalParameters": {"target": "release", "tag": "$tag"},
    "resolvedDependencies": [
      {"uri": "git+$source", "digest": {"gitCommit": "$commit"}},
      {"uri": "pkg:generic/$(go env GOVERSION)"}
    ]
  },
  "runDetails": {"builder": {"id": "${BUILDER:-urn:host:$(uname -n)}"}}
}
END

cd dist
rm -f ./*.sigstore.json
for file in *.wasm SHA256SUMS; do
	cosign sign-blob --yes --key "$key" "$@" --bundle "$file.sigstore.json" "$file"
done
cosign attest-blob --yes --key "$key" "$@" --type slsaprovenance1 --predicate "$provenance" \
	--bundle SHA256SUMS.provenance.sigstore.json SHA256SUMS
