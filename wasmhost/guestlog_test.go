package wasmhost

import (
	"io"
	"regexp"
	"strings"
	"testing"
)

func TestGuestThatLogsTooMuchLosesLinesThatAreCounted(t *testing.T) {
	pl := openWith(t, "echo_klog", Args{GuestConfig: strings.Repeat("a", 4000)}, nil)
	log := logged(t, func() {
		for range 200 { // each logs three lines
			schedule(t.Context(), pl, pod("web"), "0")
		}
		if err := pl.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	})
	lines := strings.Count(log, "aaaa ") + strings.Count(log, "aaaa\n") + strings.Count(log, "aaaa\"")
	if len(log) > maxLogged+10_000 || lines < 250 {
		t.Errorf("%d bytes in %d lines", len(log), lines)
	}
	said := regexp.MustCompile(`Dropped log lines .* lines=(\d+) `).FindStringSubmatch(log)
	if said == nil || said[1] != "343" {
		t.Errorf("of 600 lines %d are there; it says %q", lines, said)
	}
}
