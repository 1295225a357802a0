package command

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAChangeShowsHoweverItIsMade in place, by renaming, behind the links of a
// ConfigMap, or by a file's coming and going.
func TestAChangeShowsHoweverItIsMade(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }
	must(os.Mkdir(in("..1"), 0o700))
	must(os.Mkdir(in("..2"), 0o700))
	must(write(in("..1/config.yaml"), "a"))
	must(write(in("..2/config.yaml"), "b"))
	must(os.Symlink("..1", in("..data")))
	must(os.Symlink("..data/config.yaml", in("config.yaml")))
	paths := []string{in("config.yaml"), in("tls.crt"), ""}
	before := digest(paths)
	changed := func(how string, want bool, err error) {
		t.Helper()
		must(err)
		now := digest(paths)
		if (now != before) != want {
			t.Errorf("%s: changed %v, want %v", how, now != before, want)
		}
		before = now
	}
	changed("nothing", false, nil)
	changed("written in place", true, write(in("..1/config.yaml"), "c"))
	changed("written as it was", false, write(in("..1/config.yaml"), "c"))
	must(os.Symlink("..2", in("..tmp")))
	changed("swapped behind links", true, os.Rename(in("..tmp"), in("..data")))
	changed("came later", true, write(in("tls.crt"), ""))
	must(write(in("new"), "d"))
	changed("renamed over", true, os.Rename(in("new"), in("tls.crt")))
	changed("removed", true, os.Remove(in("tls.crt")))
}
