package extender_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/extender"
)

func TestVerbosityHoldsInBothFormats(t *testing.T) {
	for _, format := range []string{extender.LogText, extender.LogJSON} {
		for verbosity, debug := range map[int]bool{0: false, 3: false, 4: true, 10: true} {
			var out bytes.Buffer
			logger := extender.NewLogger(&out, format, verbosity)
			logger.Info("an info")
			logger.V(4).Info("a debug")
			logger.Error(errors.New("broken"), "an error")
			got := out.String()
			if !strings.Contains(got, "an info") || strings.Contains(got, "a debug") != debug || !strings.Contains(got, "broken") {
				t.Errorf("%s at %d: got %s", format, verbosity, got)
			}
		}
	}
}

func TestLinesNameTheirCaller(t *testing.T) {
	var out bytes.Buffer
	extender.NewLogger(&out, extender.LogText, 0).Info("Serving", "address", "127.0.0.1:1")
	got := out.String()
	if !strings.Contains(got, `logging_test.go:`) || !strings.Contains(got, `"Serving" address="127.0.0.1:1"`) {
		t.Errorf("text: %s", got)
	}
	out.Reset()
	extender.NewLogger(&out, extender.LogJSON, 0).Info("Serving", "address", "127.0.0.1:1")
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line["msg"] != "Serving" || line["address"] != "127.0.0.1:1" || !strings.Contains(line["caller"].(string), "logging_test.go:") {
		t.Errorf("JSON: %s", &out)
	}
}
