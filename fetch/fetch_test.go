package fetch

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// serve answers at /guest.wasm with what a test wants.
func serve(t *testing.T, handler http.HandlerFunc) (guestURL string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/guest.wasm", handler)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/guest.wasm"
}

// get fetches a guest of at most 1 MiB, and has time for it, unless the fetcher says otherwise.
func get(t *testing.T, f Fetcher, url string) ([]byte, error) {
	t.Helper()
	f.Timeout = cmp.Or(f.Timeout, time.Minute)
	return f.Fetch(t.Context(), wasmhost.Args{GuestURL: url, GuestSizeLimit: *resource.NewQuantity(1<<20, resource.BinarySI)})
}

func TestGuestsThatCannotBeFetched(t *testing.T) {
	redirected := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	}
	announced := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1048577")
		_, _ = w.Write([]byte(magic))
	}
	for name, tt := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"the server does not have it":                      {http.NotFound, "the server answered 404 Not Found"},
		"the server never answers":                         {silence, "not fetched within 200ms: context deadline exceeded"},
		"the server stops in the middle":                   {stopsHalfway, "not fetched within 200ms: context deadline exceeded"},
		"the server hangs up in the middle":                {half, "unexpected EOF"},
		"it announces to be too large":                     {announced, "over guestSizeLimit, 1 MiB: 1048577 bytes"},
		"it turns out to be too large":                     {forever, "over guestSizeLimit, 1 MiB"},
		"it is a web page":                                 {say(200, "<!DOCTYPE html><html>"), "not a Wasm module"},
		"the server sends the fetch round in circles":      {redirected("/guest.wasm"), "redirected more than 5 times"},
		"the server sends the fetch to a file":             {redirected("file:///etc/passwd"), "redirected to what is neither http nor https"},
		"the server redirects to an address with a secret": {redirected("http://%zz/" + secret), "the answer is not proper HTTP"},
		"the server has words of its own for a status":     {verbatim("HTTP/1.1 500 " + secret + "\r\nContent-Length: 0\r\n\r\n"), "the server answered 500 Internal Server Error"},
		"it is not a web server":                           {verbatim(secret + "\r\n"), "the answer is not proper HTTP"},
		"it begins like a web server":                      {verbatim("HTTP/1.1 200 OK\r\n" + secret + "\r\n\r\n"), "the answer is not proper HTTP"},
	} {
		f := Fetcher{}
		if strings.Contains(tt.want, "not fetched within 200ms") {
			f.Timeout = 200 * time.Millisecond
		}
		_, err := get(t, f, serve(t, tt.handler))
		if message(err) != tt.want {
			t.Errorf("%s: got\n%v\nwant\n%s", name, err, tt.want)
		}
	}
}

func TestGuestIsUnavailableIfAnotherFetchMaySucceed(t *testing.T) {
	server := func(code int) string { return serve(t, say(code, "")) }
	for name, tt := range map[string]struct {
		url  string
		want bool
	}{
		"nothing listens":           {"http://127.0.0.1:1/guest.wasm", true},
		"not found":                 {server(404), true},
		"an error of the server":    {server(500), true},
		"a gateway without servers": {server(502), true},
		"a status of a proxy's own": {server(523), true},
		"too many requests":         {server(429), true},
		"forbidden":                 {server(403), false},
		"not implemented":           {server(501), false},
		"another version of HTTP":   {server(505), false},
		"a loop":                    {server(508), false},
		"a port that is too large":  {"http://127.0.0.1:99999/guest.wasm", false},
		"an image's port, too":      {"oci://127.0.0.1:99999/guest:v1", false},
		"no file":                   {"file:///no/such.wasm", false},
	} {
		_, err := get(t, Fetcher{}, tt.url)
		if err == nil || errors.As(err, new(*wasmhost.UnavailableError)) != tt.want {
			t.Errorf("%s: %v: want unavailable %t", name, err, tt.want)
		}
	}
}

func stopsHalfway(w http.ResponseWriter, r *http.Request) {
	_, _ = w.Write([]byte(magic))
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// secret is what must be in no error: a user who may name a guest may not read, by
// its errors, what this process can reach.
const secret = "SSH-2.0-secret"

// verbatim answers with a text as it stands.
func verbatim(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = conn.Write([]byte(answer))
	}
}

func TestFetchSaysNothingOfAFile(t *testing.T) {
	for _, content := range []string{"", "s", secret, "\x00as", "\x00" + secret} {
		file := filepath.Join(t.TempDir(), "guest.wasm")
		testkit.Must(t, os.WriteFile(file, []byte(content), 0o600))
		_, err := get(t, Fetcher{}, "file://"+file)
		want := "not a Wasm module"
		if message(err) != want {
			t.Errorf("%q: got %v, want %s", content, err, want)
		}
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	const address = "127.0.0.1:1" // a port that was free a moment ago may be another program's by now
	_, err := get(t, Fetcher{}, "http://me:secret@"+address)
	want := "dial tcp " + address + ": connect: connection refused"
	if message(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEncryptedFetchStaysEncrypted(t *testing.T) {
	plain := serve(t, func(w http.ResponseWriter, _ *http.Request) { t.Error("it was followed") })
	server := httptest.NewTLSServer(http.RedirectHandler(plain, http.StatusFound))
	defer server.Close()
	f := Fetcher{Transport: server.Client().Transport}
	_, err := get(t, f, server.URL)
	want := "redirected from https to http"
	if message(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWhatACertificateHasIsNotShown(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	trusting := Fetcher{Transport: server.Client().Transport}
	for _, tt := range []struct {
		fetcher   Fetcher
		url, want string
	}{
		{Fetcher{}, server.URL, "the server's certificate is signed by an unknown authority"},
		{trusting, strings.Replace(server.URL, "127.0.0.1", "localhost", 1), "the server's certificate is not valid for localhost"},
	} {
		_, err := get(t, tt.fetcher, tt.url)
		if message(err) != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A read of /proc/kmsg lasts until the kernel's next message.
func TestFileThatDoesNotEndIsGivenUp(t *testing.T) {
	const endless = "/proc/kmsg"
	f, err := os.Open(endless)
	if err != nil {
		testkit.NotTested(t, "no file that blocks its reader: run as root: "+err.Error())
	}
	f.Close()
	left.Delete(endless) // of a run before
	_, err = get(t, Fetcher{Timeout: 50 * time.Millisecond}, "file://"+endless)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	_, err = get(t, Fetcher{}, "file://"+endless)
	if !errors.Is(err, errStuck) {
		t.Errorf("while a read is left behind: got %v", err)
	}
}
