package compare

import (
	"testing"
)

func TestTheDefaultAgainstItselfDiffersInNothing(t *testing.T) {
	r := run(t, Options{A: door(t, "default"), B: door(t, "default"), Cluster: cluster(150, 400)})
	if len(r.Differences) > 0 || r.Runs[0].Same != 400 {
		t.Errorf("%d differ", len(r.Differences))
	}
}
