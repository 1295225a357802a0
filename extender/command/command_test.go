package command_test

import (
	"runtime"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/extender/command"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// try runs the program to its end.
func try(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err testkit.Log
	status = command.Main(t.Context(), args, &out, &err)
	return status, out.String(), err.String()
}

func TestExtenderExplainsItself(t *testing.T) {
	status, out, _ := try(t, "--version")
	if status != 0 || !strings.Contains(out, runtime.Version()) {
		t.Errorf("--version: %d %q", status, out)
	}
	status, out, _ = try(t, "--help")
	if status != 0 || !strings.Contains(out, "--print-config") || !strings.Contains(out, "--listen") {
		t.Errorf("--help: %d %q", status, out)
	}
	status, out, _ = try(t, "--print-config", "--algorithm=lucky", "--config=../../testdata/extender/config/good/one-algorithm.yaml")
	if status != 0 || !strings.Contains(out, "listen: 127.0.0.1:8000\n") || !strings.Contains(out, "pass: 0.5\n") || !strings.Contains(out, "verbosity: 4\n") {
		t.Errorf("--print-config: %d %s", status, out)
	}
}

func TestExtenderEndsOnMistakes(t *testing.T) {
	for want, args := range map[string][]string{
		"unknown flag: --listn":     {"--listn=1"},
		"unknown command \"serve\"": {"serve"},
		"no such file or directory": {"--config=missing.yaml"},
		"the file has no field":     {"--config=/dev/null", "--print-config"},
	} {
		status, _, err := try(t, args...)
		if status != 2 || !strings.Contains(err, want) {
			t.Errorf("%v: status %d, %s", args, status, err)
		}
	}
	status, _, err := try(t, "--listen=127.0.0.1:0", "--tls-cert-file=missing", "--tls-private-key-file=missing")
	if status != 1 || !strings.Contains(err, "tls: certificate missing with key missing: open missing: no such file") {
		t.Errorf("missing certificates: status %d, %s", status, err)
	}
}
