package fetch

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

func version(t *testing.T, f Fetcher, url string) (string, error) {
	t.Helper()
	f.Timeout = time.Minute
	return f.Version(t.Context(), wasmhost.Args{GuestURL: url})
}

// Each source has one guest, then another one, and says so without sending it.
func TestVersionChangesWithTheGuest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "guest.wasm")
	put := func(content string) {
		testkit.Must(t, os.WriteFile(file+".new", []byte(content), 0o644))
		testkit.Must(t, os.Rename(file+".new", file))
	}
	header := map[string]string{}
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead {
			t.Error("asked for by", r.Method)
		}
		for key, value := range header {
			w.Header().Set(key, value)
		}
	})
	r := newRegistry(t, nil)
	noHead := newRegistry(t, func(registry http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			registry.ServeHTTP(w, r)
		})
	})
	push := func(r images, content string) func() {
		return func() { r.push(t, "guest:v1", layer(magic+content, wasmLayers[0])) }
	}
	for name, tt := range map[string]struct {
		url           string
		first, second func()
	}{
		"a file":                  {"file://" + file, func() { put("one") }, func() { put("another") }},
		"a server with ETag":      {server, func() { header["ETag"] = `"1"` }, func() { header["ETag"] = `"2"` }},
		"a server with times":     {server, func() { header["Last-Modified"] = "Sun, 29 Nov 2026 10:00:00 GMT" }, func() { header["Last-Modified"] = "Sun, 29 Nov 2026 10:00:01 GMT" }},
		"a registry":              {"oci://" + r.host + "/guest:v1", push(r, "one"), push(r, "two")},
		"a registry without HEAD": {"oci://" + noHead.host + "/guest:v1", push(noHead, "one"), push(noHead, "two")},
	} {
		clear(header)
		tt.first()
		one, err := version(t, Fetcher{}, tt.url)
		testkit.Must(t, err)
		same, err := version(t, Fetcher{}, tt.url)
		testkit.Must(t, err)
		tt.second()
		two, err := version(t, Fetcher{}, tt.url)
		testkit.Must(t, err)
		if one == "" || one != same || one == two {
			t.Errorf("%s: %q, then %q, then %q", name, one, same, two)
		}
	}
}

func TestSourceWithoutAVersion(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"neither ETag nor Last-Modified": say(http.StatusOK, program),
		"no HEAD":                        say(http.StatusMethodNotAllowed, ""),
	} {
		got, err := version(t, Fetcher{}, serve(t, handler))
		if got != "" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	r := newRegistry(t, nil)
	for url, want := range map[string]string{
		serve(t, http.NotFound):          "the server answered 404 Not Found",
		"oci://" + r.host + "/absent:v1": "the registry answered 404 Not Found",
		"file:///no/such/file":           "no such file or directory",
		"ftp://example.com/guest.wasm":   errScheme.Error(),
	} {
		_, err := version(t, Fetcher{}, url)
		testkit.ErrorHas(t, err, want)
	}
	_, err := Fetcher{Timeout: 200 * time.Millisecond}.Version(t.Context(), wasmhost.Args{GuestURL: serve(t, silence)})
	testkit.ErrorHas(t, err, "not fetched within 200ms")
}
