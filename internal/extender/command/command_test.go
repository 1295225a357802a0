package command_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/command"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/testlog"
)

const patience = time.Minute

// try runs the program to its end.
func try(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err testlog.Log
	status = command.Main(t.Context(), nil, "v1.2.3", args, &out, &err)
	return status, out.String(), err.String()
}

func TestTheProgramExplainsItself(t *testing.T) {
	if status, out, _ := try(t, "--version"); status != 0 || out != "v1.2.3\n" {
		t.Errorf("--version: %d %q", status, out)
	}
	if status, _, out := try(t, "--help"); status != 0 || !strings.Contains(out, "--print-config") || !strings.Contains(out, "--listen") {
		t.Errorf("--help: %d %q", status, out)
	}
	status, out, _ := try(t, "--print-config", "--algorithm=lucky", "--config=../../../testdata/extender/config/good/one-algorithm.yaml")
	if status != 0 || !strings.Contains(out, "listen: 127.0.0.1:8000\n") || !strings.Contains(out, "pass: 0.5\n") || !strings.Contains(out, "server: debug\n") {
		t.Errorf("--print-config: %d %s", status, out)
	}
}

func TestMistakesEndTheProgram(t *testing.T) {
	for want, args := range map[string][]string{
		"unknown flag: --listn":            {"--listn=1"},
		"takes flags only":                 {"serve"},
		"\"loud\" is no level":             {"-v=loud"},
		"no such file or directory":        {"--config=missing.yaml"},
		"there is nothing in it":           {"--config=/dev/null", "--print-config"},
		"listen: \"x\": must be host:port": {"--listen=x"},
	} {
		if status, _, err := try(t, args...); status != 2 || !strings.Contains(err, want) {
			t.Errorf("%v: status %d, %s", args, status, err)
		}
	}
	if status, _, err := try(t, "--listen=127.0.0.1:0", "--tls-cert-file=missing", "--tls-private-key-file=missing"); status != 1 || !strings.Contains(err, "tls: certificate missing") {
		t.Errorf("missing certificates: status %d, %s", status, err)
	}
}

// program is one that runs until the test ends.
type program struct {
	*testing.T
	path   string // of its configuration
	log    testlog.Log
	hangup chan os.Signal
	url    string
}

func start(t *testing.T, config string, args ...string) *program {
	t.Helper()
	p := &program{T: t, path: filepath.Join(t.TempDir(), "config.yaml"), hangup: make(chan os.Signal)}
	p.write(config)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan int)
	go func() {
		done <- command.Main(ctx, p.hangup, "v1.2.3", append([]string{"--config=" + p.path, "--listen=127.0.0.1:0"}, args...), io.Discard, &p.log)
	}()
	t.Cleanup(func() {
		cancel()
		if status := <-done; status != 0 {
			t.Errorf("status %d after a clean stop: %s", status, &p.log)
		}
	})
	serving := regexp.MustCompile(`"Serving".* address="([^"]*)"`)
	p.eventually("the program to serve", func() bool { return serving.MatchString(p.log.String()) })
	p.url = "http://" + serving.FindStringSubmatch(p.log.String())[1]
	return p
}

func (p *program) write(config string) {
	p.Helper()
	config = "timeouts: {unready: 0s}\n" + config
	if err := os.WriteFile(p.path+".new", []byte(config), 0o600); err != nil {
		p.Fatal(err)
	}
	if err := os.Rename(p.path+".new", p.path); err != nil {
		p.Fatal(err)
	}
}

func (p *program) get(path string) string {
	p.Helper()
	response, err := http.Get(p.url + path)
	if err != nil {
		p.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		p.Fatal(err)
	}
	return string(page)
}

func (p *program) eventually(what string, holds func() bool) {
	p.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			p.Fatalf("waited %s in vain: %s\n%s", patience, what, &p.log)
		}
	}
}

func (p *program) refusals() int {
	var n int
	_, after, _ := strings.Cut(p.get("/metrics"), `extender_reloads_total{result="refused",what="config"} `)
	_, _ = fmt.Sscan(after, &n)
	return n
}

func TestAChangedFileIsUsed(t *testing.T) {
	p := start(t, "algorithm: nop")
	p.write("algorithm: lucky")
	p.eventually("the new algorithm", func() bool { return strings.Contains(p.get("/"), "filter: lucky, prioritize: lucky") })

	for i, bad := range []string{"algorithm: none", "filter: [", "algorithm: nop\nlimits: {header: 8Ki}"} {
		p.write(bad)
		p.eventually("a refusal of "+bad, func() bool { return p.refusals() == i+1 })
		if page := p.get("/"); !strings.Contains(page, "filter: lucky") {
			t.Errorf("after a bad file: %s", page)
		}
	}
	for _, want := range []string{"The new configuration is refused, the old one goes on", `no algorithm is called \"none\"`, "limits.header: cannot change while the extender runs: restart it"} {
		if !strings.Contains(p.log.String(), want) {
			t.Errorf("the log does not say %s:\n%s", want, &p.log)
		}
	}
	p.write("algorithm: nop\nloggers: {server: debug}")
	p.eventually("the next good file", func() bool { return strings.Contains(p.get("/"), "filter: nop") })
	response, err := http.Post(p.url+"/filter", "application/json", bytes.NewReader(corpus.Names("", 3)))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	p.eventually("a line at the new level", func() bool {
		return strings.Contains(p.log.String(), `"Answered" logger="server" verb="filter" pod="default/web-`)
	})
}

func TestAFileThatIsEmptiedInPlaceIsRefused(t *testing.T) {
	p := start(t, "algorithm: lucky")
	for i, text := range []string{"", "# algorithm: lucky\n"} {
		if err := os.WriteFile(p.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p.eventually("a refusal", func() bool { return p.refusals() == i+1 })
		if page := p.get("/"); !strings.Contains(page, "filter: lucky, prioritize: lucky") {
			t.Errorf("after %q: %s", text, page)
		}
	}
	if !strings.Contains(p.log.String(), "config.yaml: there is nothing in it but comments and blanks") {
		t.Errorf("the log does not say what is wrong:\n%s", &p.log)
	}
	p.hangup <- syscall.SIGHUP
	p.eventually("a refusal of the hangup", func() bool { return p.refusals() == 3 })
}

func TestFlagsWinAfterAReloadToo(t *testing.T) {
	p := start(t, "mode: full-nodes", "--algorithm=nop")
	p.write("mode: v2\nalgorithm: lucky")
	p.eventually("the new mode", func() bool { return strings.Contains(p.get("/"), "mode: names, filter: nop") })
}

func TestAHangupReadsTheFilesAgain(t *testing.T) {
	p := start(t, "algorithm: lucky\nalgorithms: {lucky: {config: {seed: 1}}}")
	ask := func() string {
		response, err := http.Post(p.url+"/prioritize", "application/json", bytes.NewReader(corpus.Names("", 50)))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		answer, _ := io.ReadAll(response.Body)
		return string(answer)
	}
	first := ask()
	p.hangup <- syscall.SIGHUP
	p.eventually("the files to be read", func() bool { return strings.Contains(p.log.String(), "A new configuration is in use") })
	if again := ask(); again != first {
		t.Errorf("the same seed gives %s and then %s", first, again)
	}
	p.write("mode: v3")
	p.hangup <- syscall.SIGHUP
	p.eventually("a refusal", func() bool { return strings.Contains(p.log.String(), `mode: \"v3\"`) })
}
