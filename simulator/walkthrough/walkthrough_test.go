package walkthrough_test

import (
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/simulator/walkthrough"
)

// The steps of the walkthrough, through every variant, on a cluster that is as
// real as it gets.
func TestWalkthrough(t *testing.T) {
	for _, variant := range simulator.Variants {
		if variant == "none" {
			continue // it knows no regex
		}
		t.Run(variant, func(t *testing.T) {
			s, err := simulator.Start(t.Context(), simulator.Config{Variant: variant, Progress: func(step string) { t.Log(step) }})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Stop(); err != nil {
					t.Error(err)
				}
			}()
			var out strings.Builder
			if err := walkthrough.Run(t.Context(), s.AdminConfig(), variant, &out); err != nil {
				t.Errorf("%v\n%s", err, out.String())
			}
			for _, want := range []string{
				`3 node(s) didn't match the pod's node name regex "cncf-.*"`,
				`2 node(s) matched the pod's node name regex-exclude "-[12]$"`,
				`trailing backslash at end of expression: "kubecon-.*\"`,
				"Everything is where it should be.",
			} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the output lacks %q:\n%s", want, out.String())
				}
			}
		})
	}
}
