package compare

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// program is a script in place of a simulator. It gets the file to write as $OUT.
func program(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	const out = "for a; do OUT=$a; done\n"
	testkit.Must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+out+text+"\n"), 0o700))
	return path
}

func TestErrorNamesAProgramThatIsNoSide(t *testing.T) {
	testkit.EmptyTemp(t)
	for name, test := range map[string]struct{ program, want string }{
		"it is not there":        {"/no/such", "^fork/exec /no/such: no such file or directory$"},
		"it writes nothing":      {program(t, "exit 0"), `/program is no simulator that runs sides, as "simulator side" does$`},
		"it knows no sides":      {program(t, "echo 'simulator: unknown command \"side\"' >&2; exit 2"), `/program side: exit status 2: simulator: unknown command "side"$`},
		"it is of another time":  {program(t, `echo '{"format":7}' >$OUT`), "it is a result of format 7, and this simulator reads format 4"},
		"it refuses":             {program(t, `echo "simulator: --config $(dirname $OUT)/config.yaml: line 3: no good" >&2; exit 2`), "/config.yaml: line 3: no good$"},
		"it dies":                {program(t, "(echo other; echo 'panic: index'; echo; echo goroutine) >&2; kill -9 $$"), "(?s)/program side: signal: killed: other\npanic: index\n\ngoroutine$"},
		"it fails without words": {program(t, "exit 3"), "/program side: exit status 3: $"},
	} {
		o := Options{A: variant(t, "none"), B: []Scheduler{variant(t, "v2")}, Cluster: clusterOf(1, 1), Pods: side.Pending, WhatIf: whatIf}
		o.B[0].Program = test.program
		_, err := Run(t.Context(), o)
		sides := SideErrors(nil)
		if !errors.As(err, &sides) || len(sides) != 1 || sides[0].Side != "B" || !regexp.MustCompile(test.want).MatchString(sides[0].Err.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRunJudgesASideOfAnotherProgram has a program that writes what a side of this one has written.
func TestRunJudgesASideOfAnotherProgram(t *testing.T) {
	testkit.EmptyTemp(t)
	written := filepath.Join(t.TempDir(), "b.json.gz")
	b := sideOf(t, "v2", clusterOf(3, 9), side.Pending)
	b.Kubernetes = "v1.99.0"
	testkit.Must(t, b.Write(written))
	o := Options{A: variant(t, "none"), B: []Scheduler{variant(t, "v2")}, Cluster: clusterOf(3, 9), Pods: side.Pending, Seed: 1, WhatIf: whatIf}
	o.B[0].Program = program(t, `echo "$*" | grep -q -- "--seed 1 " && cp `+written+` $OUT`)
	results, err := Run(t.Context(), o)
	testkit.Must(t, err)
	r := results[0]
	if r.Counts.Same != 9 || !strings.HasSuffix(r.B, "(Kubernetes v1.99.0)") {
		t.Errorf("%+v of %s", r.Counts, r.B)
	}
}
