package page

import (
	"testing"
)

func TestOnlyTheDifferenceIsSent(t *testing.T) {
	before, _ := readDocuments("{apiVersion: v1, kind: Node, metadata: {name: a, labels: {x: '1'}}, status: {phase: Pending}}")
	after, _ := readDocuments("{apiVersion: v1, kind: Node, metadata: {name: a}, status: {phase: Running}}")
	got, err := difference(before[0], after[0])
	if err != nil || string(got) != `{"metadata":{"labels":null},"status":{"phase":"Running"}}` {
		t.Errorf("%s, %v", got, err)
	}
}
