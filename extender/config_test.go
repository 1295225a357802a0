package extender_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

const files = "../testdata/extender/config/"

// TestBadFilesEarnTheirMessage expects of each file the messages in its first
// lines.
func TestBadFilesEarnTheirMessage(t *testing.T) {
	for _, path := range testkit.Files(t, files+"bad/*.yaml") {
		text := testkit.ReadFile(t, path)
		wanted := 0
		for line := range strings.Lines(string(text)) {
			want, ok := strings.CutPrefix(strings.TrimSpace(line), "# want: ")
			if !ok {
				break
			}
			wanted++
			_, err := extender.LoadConfig(path)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("%s:\ngot  %v\nwant %s", filepath.Base(path), err, want)
			}
		}
		if wanted == 0 {
			t.Fatalf("%s: the first line does not say what to want", path)
		}
	}
	_, err := extender.LoadConfig(files + "missing.yaml")
	testkit.ErrorHas(t, err, "missing.yaml")
}

// A file that was emptied by accident must not become the defaults.
func TestFileOfNothingIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	for _, text := range []string{"", "\n \n", "\ufeff", "# algorithm: lucky", "null", "~\n", "---\n...\n"} {
		testkit.WriteFile(t, path, text)
		_, err := extender.LoadConfig(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), "write {}") {
			t.Errorf("%q: got %v", text, err)
		}
	}
	testkit.WriteFile(t, path, "{}")
	testkit.Equal(t, printed(t, path), printed(t, ""), "the configuration that {} gives")
}

// printed is the configuration that a file gives.
func printed(t *testing.T, path string) string {
	t.Helper()
	text, err := load(t, path).YAML()
	testkit.Must(t, err)
	return string(text)
}

func TestPrintedConfigGivesTheSameAgain(t *testing.T) {
	for _, path := range testkit.Files(t, files+"good/*.yaml") {
		text := printed(t, path)
		testkit.Equal(t, printed(t, testkit.TempFile(t, "printed.yaml", text)), text, "%s, printed again", path)
	}
}

func load(t testing.TB, file string, args ...string) *extender.Config {
	t.Helper()
	c, err := extender.LoadConfig(file, args...)
	testkit.Must(t, err)
	return c
}

func TestFlagsWinOverTheFileWhichWinsOverDefaults(t *testing.T) {
	c := load(t, files+"good/production.yaml", "--listen=127.0.0.1:9", "--prioritize=lucky", "-v=4")
	testkit.Equal(t, c.Listen, "127.0.0.1:9", "listen is the flag's")
	testkit.Equal(t, c.Filter, "regex", "filter is the default")
	testkit.Equal(t, c.Prioritize, "lucky", "prioritize is the flag's")
	testkit.Equal(t, c.Verbosity, 4, "the verbosity is the flag's")
	testkit.Equal(t, c.Timeouts.Drain.Duration, 20*time.Second, "timeouts are the file's")
	testkit.Equal(t, c.TLS.ClientCAFile, "/etc/extender/ca.crt", "tls is the file's")
	c = load(t, files+"good/load.yaml", "--algorithm=nop", "--tls-cert-file=a", "--tls-private-key-file=b", "--client-ca-file=c", "--log-format=json")
	testkit.Equal(t, c.InUse(), []string{"nop"}, "--algorithm")
	testkit.Equal(t, c.TLS, extender.TLS{CertFile: "a", KeyFile: "b", ClientCAFile: "c"}, "flags of TLS")
	testkit.Equal(t, c.LogFormat, "json", "--log-format")
	c = load(t, "", "--filter=regex", "--filter=lucky", "--algorithm=nop")
	testkit.Equal(t, c.Filter, "lucky", "a flag that is given twice")
	testkit.Equal(t, c.Prioritize, "nop", "--algorithm beside --filter")
}

func TestAlgorithmOfARegisteredNamePanics(t *testing.T) {
	defer func() { testkit.Equal(t, recover(), `extender: algorithm "nop" is registered already`, "the panic") }()
	extender.Register("nop", nil)
}
