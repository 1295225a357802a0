package command

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestEveryQuestionEnds asks what has once had no answer, or another one tomorrow. Files are in testdata/ends.
func TestEveryQuestionEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		args   string
		status int
		wants  []string // of the report
	}{
		"a DaemonSet's pod without a name": {"fit --cluster ds-generate.yaml -f need3.yaml", 0, []string{"1 pod would fit."}},
		"ordinals far apart":               {"drain --cluster ordinals.yaml n1", statusLost, []string{"2 pods: 0 to another node, 2 unschedulable", "db-1000000   n1     -    0/1 nodes are available"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(tt.args)
			for i, arg := range args {
				if strings.HasSuffix(arg, ".yaml") {
					args[i] = "testdata/ends/" + arg
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
			defer cancel()
			var out, errOut bytes.Buffer
			status := run(ctx, args, &out, &errOut)
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			for _, want := range tt.wants {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q", want)
				}
			}
			if t.Failed() {
				t.Log(tt.args, "\n", &out, &errOut)
			}
		})
	}
}
