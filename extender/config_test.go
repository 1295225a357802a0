package extender_test

import (
	"os"
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
	paths, err := filepath.Glob(files + "bad/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		testkit.Must(t, err)
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
	_, err = extender.LoadConfig(files + "missing.yaml")
	testkit.ErrorHas(t, err, "missing.yaml")
}

// A file that was emptied by accident must not become the defaults.
func TestFileOfNothingIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	for _, text := range []string{"", "\n \n", "\ufeff", "# algorithm: lucky", "null", "~\n", "---\n...\n"} {
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := extender.LoadConfig(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), "write {}") {
			t.Errorf("%q: got %v", text, err)
		}
	}
	testkit.Must(t, os.WriteFile(path, []byte("{}"), 0o600))
	given, defaults := printed(t, path), printed(t, "")
	if given != defaults {
		t.Errorf("{} gives\n%s\nwant the defaults\n%s", given, defaults)
	}
}

// printed is the configuration that a file gives.
func printed(t *testing.T, path string) string {
	t.Helper()
	text, err := load(t, path).YAML()
	testkit.Must(t, err)
	return string(text)
}

func TestPrintedConfigGivesTheSameAgain(t *testing.T) {
	paths, err := filepath.Glob(files + "good/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, path := range paths {
		text, file := printed(t, path), filepath.Join(t.TempDir(), "printed.yaml")
		testkit.Must(t, os.WriteFile(file, []byte(text), 0o600))
		other := printed(t, file)
		if text != other {
			t.Errorf("%s: printed\n%s\nand then\n%s", path, text, other)
		}
	}
}

func load(t *testing.T, file string, args ...string) *extender.Config {
	t.Helper()
	c, err := extender.LoadConfig(file, args...)
	testkit.Must(t, err)
	return c
}

func TestFlagsWinOverTheFileWhichWinsOverDefaults(t *testing.T) {
	c := load(t, files+"good/production.yaml", "--listen=127.0.0.1:9", "--prioritize=lucky", "-v=4")
	for what, ok := range map[string]bool{
		"listen is the flag's":        c.Listen == "127.0.0.1:9",
		"filter is the default":       c.Filter == "regex",
		"prioritize is the flag's":    c.Prioritize == "lucky",
		"the verbosity is the flag's": c.Verbosity == 4,
		"timeouts are the file's":     c.Timeouts.Drain.Duration == 20*time.Second,
		"tls is the file's":           c.TLS.ClientCAFile == "/etc/extender/ca.crt",
	} {
		if !ok {
			text, _ := c.YAML()
			t.Errorf("not so: %s\n%s", what, text)
		}
	}
	c = load(t, files+"good/load.yaml", "--algorithm=nop", "--tls-cert-file=a", "--tls-private-key-file=b", "--client-ca-file=c", "--log-format=json")
	if strings.Join(c.InUse(), ",") != "nop" || c.TLS != (extender.TLS{CertFile: "a", KeyFile: "b", ClientCAFile: "c"}) || c.LogFormat != "json" {
		t.Errorf("flags: %+v", c)
	}
	c = load(t, "", "--filter=regex", "--filter=lucky", "--algorithm=nop")
	if c.Filter != "lucky" || c.Prioritize != "nop" {
		t.Errorf("flags given twice, and --filter with --algorithm: filter %v, prioritize %v", c.Filter, c.Prioritize)
	}
}

func TestAlgorithmOfARegisteredNamePanics(t *testing.T) {
	defer func() {
		got := recover()
		if got != `extender: algorithm "nop" is registered already` {
			t.Errorf("got %v", got)
		}
	}()
	extender.Register("nop", nil)
}
