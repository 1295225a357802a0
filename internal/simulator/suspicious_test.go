package simulator

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	poll "wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// A hostlist is a valid regex of other nodes than were meant. To its reader, one event
// of the pod says so, and the pod is scheduled as its regex says.
func TestHostlistCausesAWarningEvent(t *testing.T) {
	for _, variant := range Variants {
		if variant == "none" {
			continue // it reads no pattern
		}
		t.Run(variant, func(t *testing.T) {
			use(t, variant)
			addNodes(t, "node-1", "other")
			addPod(t, "hostlist", "node-[001-128]")
			addPod(t, "good", "node-[0-9]+")
			for _, name := range []string{"hostlist", "good"} {
				a := attempt(t, name, recorder.Scheduled)
				if a.Node != "node-1" {
					t.Errorf("%s is on %q", name, a.Node)
				}
			}
			poll.Succeeds(t, "one event warns of the hostlist", func(ctx context.Context) error {
				events, err := sim.Client().CoreV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "reason=SuspiciousRegex"})
				if err != nil {
					return err
				}
				var got []string
				for _, e := range events.Items {
					got = append(got, fmt.Sprintf("%s %s: %s", e.Type, e.InvolvedObject.Name, e.Message))
				}
				const want = "Warning hostlist: annotation scheduler.wasmkwokwizardry.io/regex: [001-128] matches one character"
				if len(got) != 1 || !strings.HasPrefix(got[0], want) {
					return fmt.Errorf("got %q, want %q alone", got, want)
				}
				return nil
			})
		})
	}
}
