package page

import (
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/simulator/page/typed"
)

func TestOnlyTheDifferenceIsSent(t *testing.T) {
	before, _ := typed.Read("{apiVersion: v1, kind: Node, metadata: {name: a, labels: {x: '1'}}, status: {phase: Pending}}")
	after, _ := typed.Read("{apiVersion: v1, kind: Node, metadata: {name: a}, status: {phase: Running}}")
	if got, err := difference(before[0], after[0]); err != nil || string(got) != `{"metadata":{"labels":null},"status":{"phase":"Running"}}` {
		t.Errorf("%s, %v", got, err)
	}
}
