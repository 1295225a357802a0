package command_test

import (
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

// What all programs do with --version, and with flags and commands that do not exist, is tested in package cmd.
func TestExtenderExplainsItselfAndEndsOnMistakes(t *testing.T) {
	for args, want := range map[string]struct {
		status int
		stdout []string
		stderr string
	}{
		"--help": {0, []string{"--print-config", "--listen"}, ""},
		"--print-config --algorithm=lucky --config=../../testdata/extender/config/good/one-algorithm.yaml": {
			0, []string{"listen: 127.0.0.1:8000\n", "pass: 0.5\n", "verbosity: 4\n"}, "",
		},
		"-v 11":                             {2, nil, "invalid argument \"11\" for \"-v, --v\" flag: use a whole number from 0 to 10"},
		"--config=missing.yaml":             {2, nil, "no such file or directory"},
		"--config=/dev/null --print-config": {2, nil, "the file has no field"},
		"--listen=127.0.0.1:0 --tls-cert-file=missing --tls-private-key-file=missing": {
			1, nil, "tls: certificate missing with key missing: open missing: no such file",
		},
	} {
		status, stdout, stderr := try(t, strings.Fields(args)...)
		testkit.Equal(t, status, want.status, "exit status of %s", args)
		testkit.Has(t, stdout, want.stdout...)
		testkit.Has(t, stderr, want.stderr)
	}
}
