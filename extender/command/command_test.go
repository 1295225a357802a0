package command_test

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/extender/command"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/observe"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/pki"
)

const patience = eventually.Patience

// try runs the program to its end.
func try(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err observe.Log
	status = command.Main(t.Context(), args, &out, &err)
	return status, out.String(), err.String()
}

func TestExtenderExplainsItself(t *testing.T) {
	if status, out, _ := try(t, "--version"); status != 0 || !strings.Contains(out, runtime.Version()) {
		t.Errorf("--version: %d %q", status, out)
	}
	if status, out, _ := try(t, "--help"); status != 0 || !strings.Contains(out, "--print-config") || !strings.Contains(out, "--listen") {
		t.Errorf("--help: %d %q", status, out)
	}
	status, out, _ := try(t, "--print-config", "--algorithm=lucky", "--config=../../testdata/extender/config/good/one-algorithm.yaml")
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
	if status != 1 || !strings.Contains(err, "tls: stat missing: no such file") {
		t.Errorf("missing certificates: status %d, %s", status, err)
	}
}

// program is one that runs until the test ends, with TLS.
type program struct {
	*testing.T
	dir       string // of its files
	authority *pki.Authority
	log       observe.Log
	address   string
}

func start(t *testing.T) *program {
	t.Helper()
	p := &program{T: t, dir: t.TempDir(), authority: pki.New(t)}
	testkit.Must(t, os.WriteFile(p.file("config.yaml"), []byte("timeouts: {unready: 0s}"), 0o600))
	p.authority.Issue(t, p.file("tls.crt"), p.file("tls.key"), time.Hour)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan int, 1)
	go func() {
		args := []string{"--config=" + p.file("config.yaml"), "--listen=127.0.0.1:0", "--tls-cert-file=" + p.file("tls.crt"), "--tls-private-key-file=" + p.file("tls.key")}
		done <- command.Main(ctx, args, io.Discard, &p.log)
	}()
	t.Cleanup(func() {
		stop()
		select {
		case status := <-done:
			if status != 0 {
				t.Errorf("status %d after a clean stop: %s", status, &p.log)
			}
		case <-time.After(patience):
			t.Errorf("it does not stop: %s", &p.log)
		}
	})
	serving := regexp.MustCompile(`"Serving".* address="([^"]*)"`)
	p.eventually("the program to serve", func() bool { return serving.MatchString(p.log.String()) })
	p.address = serving.FindStringSubmatch(p.log.String())[1]
	return p
}

func (p *program) file(name string) string { return filepath.Join(p.dir, name) }

func (p *program) eventually(what string, holds func() bool) {
	p.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			p.Fatalf("waited %s in vain: %s\n%s", patience, what, &p.log)
		}
	}
}

// page is what is at /metrics, and the serial number of the certificate there.
func (p *program) page() (metrics, serial string) {
	p.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: p.authority.Pool()}}}
	response, err := client.Get("https://" + p.address + "/metrics")
	testkit.Must(p.T, err)
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	testkit.Must(p.T, err)
	return string(page), response.TLS.PeerCertificates[0].SerialNumber.String()
}

func TestExtenderReloadsChangedCertificates(t *testing.T) {
	p := start(t)
	renewed := p.authority.Issue(t, p.file("tls.crt"), p.file("tls.key"), 2*time.Hour)
	p.eventually("the new certificate", func() bool { _, serial := p.page(); return serial == renewed.SerialNumber.String() })
	for _, want := range []string{`"New certificates are in use"`, renewed.NotAfter.UTC().Format(time.RFC3339)} {
		p.eventually("a line with "+want, func() bool { return strings.Contains(p.log.String(), want) })
	}
	testkit.Must(t, os.WriteFile(p.file("tls.crt"), nil, 0o600))
	metrics, serial := p.page()
	if !strings.Contains(p.log.String(), "The new certificates are invalid, the old ones stay in use") {
		t.Errorf("no line about it: %s", &p.log)
	}
	if serial != renewed.SerialNumber.String() {
		t.Errorf("with a bad file: serial %s, want that of the last good one, %s", serial, renewed.SerialNumber)
	}
	for _, want := range []string{`extender_certificate_reloads_total{result="success"} 1`, `extender_certificate_reloads_total{result="refused"} 1`} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("%s is missing in the metrics", want)
		}
	}
}
