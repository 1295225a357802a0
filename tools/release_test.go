package tools

import (
	"bytes"
	"os"
	"os/exec"
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
	root := t.TempDir()
	for _, folder := range []string{"cmd", "internal", "static", "regex", "compat/scenario", "tools/kubernetes"} {
		if err := os.CopyFS(filepath.Join(root, folder), os.DirFS(filepath.Join("..", folder))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Makefile", "go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, name), text)
	}
	out := filepath.Join(root, "program")
	build := exec.CommandContext(t.Context(), "make", "-s", "program", "PROGRAM=static-webserver", "OUT="+out, "TAG=v9.8.7", "COMMIT=0123456789ab")
	build.Dir = root
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	program, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return program
}
