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
		for verbosity, debug := range map[int]bool{0: false, 3: false, 4: true, 10: true} {
			var out bytes.Buffer
			logger := extender.NewLogger(&out, format, verbosity)
			logger.Info("Serving", "address", "127.0.0.1:1")
			logger.V(4).Info("a debug")
			logger.Error(errors.New("broken"), "an error")
			got := out.String()
			for _, want := range []string{line, "broken", "logging_test.go:"} {
				if !strings.Contains(got, want) {
					t.Errorf("%s at %d: no %s in %s", format, verbosity, want, got)
				}
			}
			if strings.Contains(got, "a debug") != debug {
				t.Errorf("%s at %d: got %s", format, verbosity, got)
			}
		}
	}
}
