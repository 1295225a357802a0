package fetch

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
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
		"the server sends the fetch round in circles":      {redirect("/guest.wasm"), "redirected more than 5 times"},
		"the server sends the fetch to a file":             {redirect("file:///etc/passwd"), "redirected to what is neither http nor https"},
		"the server redirects to an address with a secret": {redirect("http://%zz/" + secret), "the answer is not proper HTTP"},
		"the server has words of its own for a status":     {verbatim("HTTP/1.1 500 " + secret + "\r\nContent-Length: 0\r\n\r\n"), "the server answered 500 Internal Server Error"},
		"it is not a web server":                           {verbatim(secret + "\r\n"), "the answer is not proper HTTP"},
		"it begins like a web server":                      {verbatim("HTTP/1.1 200 OK\r\n" + secret + "\r\n\r\n"), "the answer is not proper HTTP"},
	} {
		f := Fetcher{}
		if strings.Contains(tt.want, "not fetched within 200ms") {
			f.Timeout = 200 * time.Millisecond
		}
		_, err := get(t, f, serve(t, tt.handler))
		testkit.Equal(t, testkit.Message(err), tt.want, "%s", name)
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
		_, err := get(t, Fetcher{}, "file://"+testkit.TempFile(t, "guest.wasm", content))
		testkit.Equal(t, testkit.Message(err), "not a Wasm module", "%q", content)
	}
}

func TestConnectionThatCannotBeUsed(t *testing.T) {
	plain := serve(t, func(w http.ResponseWriter, _ *http.Request) { t.Error("it was followed") })
	server := httptest.NewTLSServer(http.RedirectHandler(plain, http.StatusFound))
	defer server.Close()
	trusting := Fetcher{Transport: server.Client().Transport}
	for _, tt := range []struct {
		fetcher   Fetcher
		url, want string
	}{
		// A port that was free a moment ago may be another program's by now.
		{Fetcher{}, "http://me:secret@127.0.0.1:1", "dial tcp 127.0.0.1:1: connect: connection refused"},
		{trusting, server.URL, "redirected from https to http"},
		{Fetcher{}, server.URL, "the server's certificate is signed by an unknown authority"}, // but not by which one
		{trusting, strings.Replace(server.URL, "127.0.0.1", "localhost", 1), "the server's certificate is not valid for localhost"},
	} {
		_, err := get(t, tt.fetcher, tt.url)
		testkit.Equal(t, testkit.Message(err), tt.want, "%s", tt.url)
	}
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
	testkit.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = get(t, Fetcher{}, "file://"+endless)
	testkit.ErrorIs(t, err, errStuck)
}

// renew fetches a guest of another version than that.
func renew(t *testing.T, f Fetcher, url, version string) (wasm, now string, err error) {
	t.Helper()
	f.Timeout = time.Minute
	content, now, err := f.FetchNew(t.Context(), wasmhost.Args{GuestURL: url}, version)
	return string(content), now, err
}

// Each source has one guest, and then another one.
func TestOnlyANewGuestIsFetched(t *testing.T) {
	served, tag := "", ""
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "guest.wasm", time.Time{}, strings.NewReader(served))
	})
	file := filepath.Join(t.TempDir(), "guest.wasm")
	r := newRegistry(t, nil)
	byTag := func(of func(guest string) string) func(string) {
		return func(guest string) { served, tag = guest, of(guest) }
	}
	for name, tt := range map[string]struct {
		url      string
		put      func(guest string)
		versions bool
	}{
		"a server with ETag":        {server, byTag(strconv.Quote), true},
		"a registry":                {"oci://" + r.host + "/guest:v1", func(guest string) { r.push(t, "guest:v1", layer(guest, wasmLayers[0])) }, true},
		"a server without ETag":     {server, byTag(func(string) string { return "" }), false},
		"a server with weak ETags":  {server, byTag(func(string) string { return `W/"1"` }), false},
		"a server with a long ETag": {server, byTag(func(string) string { return `"` + strings.Repeat("long", 100) + `"` }), false},
		"a file":                    {"file://" + file, func(guest string) { testkit.Must(t, os.WriteFile(file, []byte(guest), 0o644)) }, false},
	} {
		one, two := magic+"one", magic+"two" // of one size
		tt.put(one)
		first, version, err := renew(t, Fetcher{}, tt.url, "")
		testkit.Must(t, err)
		same, again, err := renew(t, Fetcher{}, tt.url, version)
		testkit.Must(t, err)
		tt.put(two)
		second, other, err := renew(t, Fetcher{}, tt.url, version)
		testkit.Must(t, err)
		want := [...]string{one, one, two}
		if tt.versions {
			want[1] = ""
		}
		if got := [...]string{first, same, second}; got != want || (version != "") != tt.versions || again != version || tt.versions && other == version {
			t.Errorf("%s: got %q of the versions %q, %q, %q; want %q", name, got, version, again, other, want)
		}
	}
}

// A server that says "not modified" unasked has no guest.
func TestNotModifiedWithoutAQuestionIsAnError(t *testing.T) {
	_, _, err := renew(t, Fetcher{}, serve(t, say(http.StatusNotModified, "")), "")
	testkit.ErrorHas(t, err, "the server answered 304 Not Modified")
}

// A server leads to one guest and then to another one, whose tags are the same.
func TestTagIsOfTheURLThatHasIt(t *testing.T) {
	target := "/one"
	mux := http.NewServeMux()
	mux.HandleFunc("/latest", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, http.StatusFound) })
	for _, path := range []string{"/one", "/two"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"1"`)
			http.ServeContent(w, r, "guest.wasm", time.Time{}, strings.NewReader(magic+path))
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	_, version, err := renew(t, Fetcher{}, server.URL+"/latest", "")
	testkit.Must(t, err)
	same, _, err := renew(t, Fetcher{}, server.URL+"/latest", version)
	testkit.Must(t, err)
	target = "/two"
	other, now, err := renew(t, Fetcher{}, server.URL+"/latest", version)
	testkit.Must(t, err)
	if same != "" || other != magic+"/two" || now == version {
		t.Errorf("%q, then %q of the version %q", same, other, now)
	}
}
