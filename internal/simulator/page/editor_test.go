package page

import (
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/page/edited"
)

func TestOnlyTheDifferenceIsSent(t *testing.T) {
	before, _ := edited.Read("{apiVersion: v1, kind: Node, metadata: {name: a, labels: {x: '1'}}, status: {phase: Pending}}")
	after, _ := edited.Read("{apiVersion: v1, kind: Node, metadata: {name: a}, status: {phase: Running}}")
	got, err := difference(before[0], after[0])
	if err != nil || string(got) != `{"metadata":{"labels":null},"status":{"phase":"Running"}}` {
		t.Errorf("%s, %v", got, err)
	}
}
