package extender_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/extender"
)

func TestLoggerHasVerbosityAndCallersInBothFormats(t *testing.T) {
	for format, line := range map[string]string{
		extender.LogText: `"Serving" address="127.0.0.1:1"`, extender.LogJSON: `"msg":"Serving","v":0,"address":"127.0.0.1:1"`,
	} {
		for verbosity, lines := range map[int]int{3: 2, 4: 3} {
			var out bytes.Buffer
			logger := extender.NewLogger(&out, format, verbosity)
			logger.Info("Serving", "address", "127.0.0.1:1")
			logger.V(4).Info("a debug")
			logger.Error(errors.New("broken"), "an error")
			got := out.String()
			if strings.Count(got, "logging_test.go:") != lines || !strings.Contains(got, line) || !strings.Contains(got, "broken") {
				t.Errorf("%s at %d: %s", format, verbosity, got)
			}
		}
	}
}

// An extender logs the pod's name of any request.
func TestLogDoesNotControlTheTerminal(t *testing.T) {
	for _, format := range []string{extender.LogText, extender.LogJSON} {
		var out bytes.Buffer
		extender.NewLogger(&out, format, 0).Error(errors.New("a\x1b[2J\nI1128"), "Answered", "pod", "a\x1b[2J\nI1128")
		if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "\nI1128") {
			t.Errorf("%s: %q", format, out.String())
		}
	}
}
