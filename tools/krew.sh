#!/usr/bin/env bash
# Packs kubectl-regex for krew, the package manager of kubectl's plugins: an archive
# for each platform that a folder has it for, and the manifest that names them with
# their digests. `make release` calls it.
#
#   tools/krew.sh v0.1.0 https://where.the/archives/will/be FOLDER
#
# The manifest's format: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/,
# the name: https://krew.sigs.k8s.io/docs/developer-guide/develop/naming-guide/
set -euo pipefail

version=$1 downloads=$2 dist=$3
name=node-regex
manifest=$dist/$name.yaml

cat >"$manifest" <<EOF
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: $name
spec:
  version: $version
  homepage: https://wasmkwokwizardry.io/regex-scheduling
  shortDescription: Nodes that a pod's regex matches, and mistakes in it
  description: |
    A pod names the nodes that it may run on by a regex in an annotation. This says
    which nodes a regex matches, finds mistakes in manifests, and explains why a pod
    waits or runs where it does. It reads, and never writes.
  platforms:
EOF

for binary in "$dist"/kubectl-regex-*-*; do
	platform=${binary#"$dist"/kubectl-regex-}
	platform=${platform%.exe}
	archive=$name-$platform.tar.gz
	program=kubectl-regex # krew links it as kubectl-node_regex
	case $binary in *.exe) program=$program.exe ;; esac
	work=$(mktemp -d)
	cp "$binary" "$work/$program"
	cp LICENSE cmd/kubectl-regex/kubectl_complete-regex "$work"
	# The same source gives the same bytes.
	tar -C "$work" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -c . | gzip -n >"$dist/$archive"
	rm -rf "$work"
	cat >>"$manifest" <<EOF
  - selector:
      matchLabels:
        os: ${platform%-*}
        arch: ${platform#*-}
    uri: $downloads/$archive
    sha256: $(sha256sum "$dist/$archive" | cut -d' ' -f1)
    bin: $program
EOF
done
