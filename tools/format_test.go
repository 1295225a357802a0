package tools

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMakeFormatNamesWhatItChanges(t *testing.T) {
	c := checkout{root: t.TempDir(), path: os.Getenv("PATH")}
	for _, name := range []string{"tools", "Makefile", "go.mod"} {
		if err := copyInto(c.root, name); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(c.root, "ugly.go"), []byte("package  p\n"))

	said, err := c.try(t, "make format 2>/dev/null")
	if want := "ugly.go\n"; err != nil || said != want {
		t.Errorf("error %v, said %q, want %q", err, said, want)
	}
	text, err := os.ReadFile(filepath.Join(c.root, "ugly.go"))
	if err != nil || string(text) != "package p\n" {
		t.Errorf("error %v, the file is %q", err, text)
	}
	if _, err := os.Stat(filepath.Join(c.root, ".tools/bin/staticcheck")); err == nil {
		t.Error("staticcheck was built, which formats nothing")
	}
}
