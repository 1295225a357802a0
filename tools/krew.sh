#!/bin/sh
# Packs bin/kubectl-regex for krew, the package manager of kubectl's plugins: an
# archive for each platform, and the manifest that names them with their digests.
#
#	tools/krew.sh v0.1.0 https://where.the/archives/are
#
# The manifest's format: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
set -eu

version=$1 releases=$2
out=$PWD/bin/krew
rm -rf "$out"
mkdir -p "$out"
manifest=$out/regex.yaml

cat >"$manifest" <<EOF
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: regex
spec:
  version: $version
  shortDescription: Nodes that a pod's regex matches, and mistakes in it
  description: |
    A pod names the nodes that it may run on by a regex in an annotation. This says
    which nodes a regex matches, finds mistakes in manifests, and explains why a pod
    waits or runs where it does. It reads, and never writes.
  platforms:
EOF

for os in linux darwin windows; do
	for arch in amd64 arm64; do
		binary=kubectl-regex
		[ $os = windows ] && binary=kubectl-regex.exe
		archive=kubectl-regex-$os-$arch.tar.gz
		work=$(mktemp -d)
		GOOS=$os GOARCH=$arch go build -ldflags '-s -w' -o "$work/$binary" ./cmd/kubectl-regex
		cp LICENSE cmd/kubectl-regex/kubectl_complete-regex "$work"
		# The same source gives the same bytes.
		tar -C "$work" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -c . | gzip -n >"$out/$archive"
		rm -rf "$work"
		cat >>"$manifest" <<EOF
  - selector:
      matchLabels:
        os: $os
        arch: $arch
    uri: $releases/$version/$archive
    sha256: $(sha256sum "$out/$archive" | cut -d' ' -f1)
    bin: $binary
EOF
	done
done
echo "$manifest"
