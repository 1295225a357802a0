package tools

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMakeFormatFormatsEachFile(t *testing.T) {
	c := checkout{root: t.TempDir(), path: os.Getenv("PATH")}
	for _, name := range []string{"tools", "Makefile", "go.mod", ".golangci.yml"} {
		if err := copyInto(c.root, name); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(c.root, "ugly.go"), []byte("package  p\n"))
	c.must(t, "make format 2>/dev/null")
	text, err := os.ReadFile(filepath.Join(c.root, "ugly.go"))
	if err != nil || string(text) != "package p\n" {
		t.Errorf("error %v, the file is %q", err, text)
	}
}
