package tools

import (
	"os"
	"path/filepath"
	"testing"
)

// The formatter is in golangci-lint, which takes minutes to compile.
func TestMakeFormatFormatsEachFile(t *testing.T) {
	built, err := filepath.Abs("../.tools")
	must(t, err)
	if _, err := os.Stat(filepath.Join(built, "golangci-lint.stamp")); err != nil {
		notTested(t, "no golangci-lint: make format builds it")
	}
	c := checkout{root: t.TempDir(), path: os.Getenv("PATH")}
	must(t, os.Symlink(built, filepath.Join(c.root, ".tools")))
	for _, name := range []string{"tools", "Makefile", "go.mod", ".golangci.yml"} {
		must(t, copyInto(c.root, name))
	}
	write(t, filepath.Join(c.root, "ugly.go"), []byte("package  p\n"))
	c.must(t, "make format 2>/dev/null")
	text := contentOf(t, filepath.Join(c.root, "ugly.go"))
	if string(text) != "package p\n" {
		t.Errorf("the file is %q", text)
	}
}
