package fetch

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

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
