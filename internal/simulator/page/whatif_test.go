package page

import (
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/fit"
)

// TestNoticesOnManifestsAreAboveTheAnswer: an object whose pattern has no effect fits.
func TestNoticesOnManifestsAreAboveTheAnswer(t *testing.T) {
	const misplaced = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {scheduler.wasmkwokwizardry.io/regex: ^kubecon-}}
spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}
`
	manifests, err := fit.Read([]string{"-"}, strings.NewReader(misplaced), fit.Namespace{})
	testkit.Must(t, err)
	text := textOf(t, "result", fitted(&fit.Fitting{Tried: 1}, manifests))
	testkit.Has(t, text, "Line 3: Deployment web: annotation scheduler.wasmkwokwizardry.io/regex: it is read on pods only; "+
		"move it to spec.template.metadata.annotations 1 pod would fit")
}
