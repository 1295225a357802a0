package guestcommand

import (
	"os/exec"
	"testing"
)

// rustc is Debian's: that of rustup may lack the target.
const rustc = "/usr/bin/rustc"

func needsRust(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath(rustc)
	if err != nil {
		t.Skipf("NOT TRIED: no %s here: %v", rustc, err)
	}
}
