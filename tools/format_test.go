package tools

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMakeFormatFormatsEachFile(t *testing.T) {
	c := checkout{root: t.TempDir(), path: os.Getenv("PATH")}
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
