package logging_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/extender/logging"
)

func TestEachLoggerHasItsLevel(t *testing.T) {
	levels := logging.Levels{"algorithm": logging.Debug, "algorithm.load": logging.Error, logging.Default: logging.Info}
	for _, format := range []string{logging.Text, logging.JSON} {
		var out bytes.Buffer
		named := logging.New(&out, format, levels)
		for name, want := range map[string]struct{ info, debug bool }{
			"server": {info: true}, "algorithm": {info: true, debug: true}, "algorithm.lucky": {info: true, debug: true},
			"algorithm.load": {}, "algorithm.load.client": {}, "algorithmic": {info: true},
		} {
			logger := named(name).WithValues("node", "a")
			out.Reset()
			logger.Info("an info")
			logger.V(4).Info("a debug")
			logger.Error(errors.New("broken"), "an error")
			got := out.String()
			if strings.Contains(got, "an info") != want.info || strings.Contains(got, "a debug") != want.debug || !strings.Contains(got, "broken") {
				t.Errorf("%s as %s: got %s", name, format, got)
			}
		}
	}
}

func TestLinesNameTheirCallerAndLogger(t *testing.T) {
	var out bytes.Buffer
	logging.New(&out, logging.Text, nil)("server").Info("Serving", "address", "127.0.0.1:1")
	if got := out.String(); !strings.Contains(got, `logging_test.go:`) || !strings.Contains(got, `"Serving" logger="server" address="127.0.0.1:1"`) {
		t.Errorf("text: %s", got)
	}
	out.Reset()
	logging.New(&out, logging.JSON, nil)("server").Info("Serving", "address", "127.0.0.1:1")
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line["msg"] != "Serving" || line["logger"] != "server" || line["address"] != "127.0.0.1:1" || !strings.Contains(line["caller"].(string), "logging_test.go:") {
		t.Errorf("JSON: %s", &out)
	}
}

func TestLevelsAreNamesOrNumbers(t *testing.T) {
	for text, want := range map[string]string{
		`"DEBUG"`: `"debug"`, `"Warning"`: `"info"`, `"error"`: `"error"`, `4`: `"debug"`, `"5"`: `"5"`, `10`: `"10"`,
	} {
		var level logging.Level
		if err := json.Unmarshal([]byte(text), &level); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got, _ := json.Marshal(level); string(got) != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{`"loud"`, `11`, `-2`, `true`, `1.5`, `{}`} {
		var level logging.Level
		if err := json.Unmarshal([]byte(text), &level); err == nil {
			t.Errorf("%s is a level: %v", text, level)
		}
	}
}
