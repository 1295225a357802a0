#!/usr/bin/env bash
# Packs deploy/chart with bin/helm: FOLDER/regex-scheduling-0.1.0.tgz, the same bytes each
# time. The chart's links into deploy/ become files.
#
#   tools/chart.sh v0.1.0 REGISTRY FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -RL deploy/chart "$copy/chart"
sed -i.bak "s,registry: .*,registry: $2," "$copy/chart/values.yaml"
rm "$copy/chart/values.yaml.bak"
find "$copy/chart" -type f -exec env TZ=UTC touch -t 198001010000 {} + # Helm packs the times of files
bin/helm package "$copy/chart" --version "${1#v}" --app-version "$1" --destination "$3" >&2
