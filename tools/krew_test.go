package tools

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestKrewTakesWhatIsPacked does with a release what the index of krew does with a plugin before
// it takes it: its own program checks the manifest, and installs what it names on each platform.
func TestKrewTakesWhatIsPacked(t *testing.T) {
	validate, err := filepath.Abs("../bin/validate-krew-manifest")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(validate); err != nil {
		t.Skip("*** NOT TESTED: there is no bin/validate-krew-manifest: make krew builds it, where its modules are served")
	}
	c := newCheckout(t)
	dist := filepath.Join(c.root, "dist")
	server := httptest.NewServer(http.FileServer(http.Dir(dist)))
	t.Cleanup(server.Close)
	c.must(t, "make release TAG=v9.8.7 DOWNLOADS="+server.URL)

	kubectl := "#!/bin/sh\nshift\nexec " + filepath.Join(filepath.Dir(validate), "krew") + ` "$@"` + "\n" // kubectl krew …
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "kubectl"), []byte(kubectl), 0o755); err != nil {
		t.Fatal(err)
	}
	check := func(manifest string) (said string, err error) {
		cmd := exec.CommandContext(t.Context(), validate, "-manifest", manifest)
		cmd.Env = append(os.Environ(), "PATH="+path+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	manifest := filepath.Join(dist, "node-regex.yaml")
	if said, err := check(manifest); err != nil || !strings.Contains(said, "all 6 spec.platforms installed fine") {
		t.Errorf("%v: %s", err, said)
	}
	if err := os.WriteFile(filepath.Join(dist, "node-regex-linux-arm64.tar.gz"), []byte("other bytes"), 0o644); err != nil {
		t.Fatal(err)
	}
	if said, err := check(manifest); err == nil || !strings.Contains(said, "checksum does not match") {
		t.Errorf("an archive with other bytes: %v: %s", err, said)
	}
}
