package edited

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const shortPod = `apiVersion: v1
kind: Pod
metadata:
  name: a
  annotations:
    scheduler.wasmkwokwizardry.io/regex: x
spec:
  containers:
  - name: web
    resources:
      requests:
        cpu: lots
`

func TestTextsAreReadObjectByObject(t *testing.T) {
	docs, problems := Read("# nothing\n---\n" + strings.Replace(shortPod, "lots", "2", 1) + "---\nkind: Pod\n---\na: b\n---\n\tx: y\n")
	if len(docs) != 1 || docs[0].GetName() != "a" || docs[0].Line("") != 3 {
		t.Errorf("read %v", docs)
	}
	lines := []int{}
	for _, p := range problems {
		lines = append(lines, p.Line)
	}
	if !slices.Equal(lines, []int{16, 20}) {
		t.Errorf("problems on lines %v: %v", lines, problems)
	}
	if _, problems := Read("# only a comment\n"); len(problems) != 1 {
		t.Errorf("nothing at all: %v", problems)
	}
}

func TestOtherErrorsAreShownUnchanged(t *testing.T) {
	got := (Document{}).Problems(errors.New("connection refused"))
	if len(got) != 1 || got[0].Message != "connection refused" {
		t.Errorf("got %v", got)
	}
}
