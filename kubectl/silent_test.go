package kubectl

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestSchedulerThatNeverAnswersIsLeftAtTheRequestTimeout(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","status":{"token":"t"}}`)
	}))
	defer api.Close()
	silent := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	for timeout, want := range map[time.Duration]time.Duration{0: answerWithin, time.Minute: time.Minute} {
		client, gets, err := (&options{}).schedulerClient(t.Context(), &rest.Config{Host: api.URL, Timeout: timeout}, "regex-scheduling")
		testkit.Must(t, err)
		testkit.Equal(t, gets, "it gets a token of ten minutes", "what the scheduler gets")
		testkit.Equal(t, client.Timeout, want, "--request-timeout %s: the end", timeout)
	}
	client, _, err := (&options{}).schedulerClient(t.Context(), &rest.Config{Host: api.URL}, "regex-scheduling")
	testkit.Must(t, err)
	client.Timeout = 10 * time.Millisecond
	_, err = client.Get(silent.URL)
	timeout := net.Error(nil)
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Error(err)
	}
}

func TestAnswerWithoutDecisionsIsShownInShort(t *testing.T) {
	got := refusal(http.StatusOK, []byte(`{"pod":"a/b","verdict":"`+strings.Repeat("x", 1<<20)))
	if len(got) > 2*maxRefusal {
		t.Errorf("%d bytes", len(got))
	}
}

// TestWhyAsksNothingWhenItsFlagsAreWrong: there is no API server at all.
func TestWhyAsksNothingWhenItsFlagsAreWrong(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "ca.crt")
	testkit.Must(t, os.WriteFile(empty, nil, 0o600))
	for args, want := range map[string]string{
		"--scheduler foo":                               "--scheduler foo: want NAMESPACE/POD",
		"--scheduler a/b/c":                             "--scheduler a/b/c: want NAMESPACE/POD",
		"--scheduler /b":                                "--scheduler /b: want NAMESPACE/POD",
		"--scheduler-certificate-authority=":            "--scheduler-certificate-authority : open : no such file",
		"--scheduler-certificate-authority missing.crt": "--scheduler-certificate-authority missing.crt: open missing.crt: no such file",
		"--scheduler-certificate-authority " + empty:    "--scheduler-certificate-authority " + empty + ": data does not contain any valid RSA or ECDSA certificates",
		"--scheduler-certificate-authority /dev/zero":   "--scheduler-certificate-authority /dev/zero: read /dev/zero: it has more than 1 MiB",
		"--kubeconfig /dev/zero":                        "kubeconfig /dev/zero: it has more than 1 MiB",
	} {
		status, out, errOut := run(t, "", strings.Fields("why web --server http://127.0.0.1:1 "+args)...)
		if status != exitFailed || out != "" || !strings.HasPrefix(errOut, "error: "+want) {
			t.Errorf("why %s: status %d, %s%s, want %q", args, status, out, errOut, want)
		}
	}
}
