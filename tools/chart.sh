#!/usr/bin/env bash
# Packs deploy/chart with bin/helm: FOLDER/regex-scheduling-0.1.0.tgz, the same bytes each
# time. The chart's links into deploy/ become files, and Artifact Hub's annotations get the
# images and what FOLDER/CHANGES.md says:
# https://artifacthub.io/docs/topics/annotations/helm/
#
#   tools/chart.sh v0.1.0 REGISTRY FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."

tag=$1 registry=$2 folder=$3
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -RL deploy/chart "$copy/chart"
sed -i.bak "s,registry: .*,registry: $registry," "$copy/chart/values.yaml"
rm "$copy/chart/values.yaml.bak"

image() { echo "    - {name: $1$2, image: \"$registry/$1:$tag$2\", platforms: [linux/amd64, linux/arm64]}"; }

# annotations is the end of Chart.yaml.
annotations() {
	case $tag in *-*) echo '  artifacthub.io/prerelease: "true"' ;; esac
	echo "  artifacthub.io/images: |"
	image extender ""
	image static-webserver ""
	image scheduler "" # of the first minor
	for minor in $(make -s minors | cut -d ' ' -f 2-); do image scheduler "-kubernetes-$minor"; done
	echo "  artifacthub.io/changes: |"
	awk '
		function finish() { if (entry) printf "    - kind: %s\n      description: \"%s\"\n", kind, entry; entry = "" }
		{ gsub(/[\\"]/, "\\\\&") }
		/^### / { finish(); kind = tolower($2); next }
		/^- / { finish(); entry = substr($0, 3); next }
		/^  / && entry { sub(/^ +/, " "); entry = entry $0; next }
		{ finish() }
		END { finish() }' "$folder/CHANGES.md"
}
annotations >>"$copy/chart/Chart.yaml"
find "$copy/chart" -type f -exec env TZ=UTC touch -t 198001010000 {} + # Helm packs the times of files
bin/helm package "$copy/chart" --version "${tag#v}" --app-version "$tag" --destination "$folder" >&2
