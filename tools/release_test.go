package tools

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A release can be checked by who builds it again: neither the folder nor the run
// leaves a trace in a program.
func TestProgramBuiltTwiceHasTheSameBytes(t *testing.T) {
	first, second := buildInACopy(t), buildInACopy(t)
	if !bytes.Equal(first, second) {
		t.Errorf("two builds of %d and %d bytes differ", len(first), len(second))
	}
	if !bytes.Contains(first, []byte("v9.8.7")) {
		t.Error("the program does not say its tag")
	}
}

func buildInACopy(t *testing.T) []byte {
	t.Helper()
	c := checkout{root: t.TempDir(), path: os.Getenv("PATH")}
	for _, name := range []string{"cmd", "internal", "static", "regex", "abi", "tools/kubernetes", "Makefile", "go.mod", "go.sum"} {
		must(t, copyInto(c.root, name))
	}
	c.must(t, "make -s program PROGRAM=static-webserver OUT=$PWD/program TAG=v9.8.7 COMMIT=0123456789ab")
	return contentOf(t, filepath.Join(c.root, "program"))
}
