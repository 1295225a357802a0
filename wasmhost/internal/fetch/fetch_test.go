package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

func TestGuestsThatCannotBeFetched(t *testing.T) {
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{
			name:    "the server does not have it",
			handler: http.NotFound,
			want:    "the server answered 404 Not Found",
		},
		{
			name:    "the server never answers",
			handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			want:    "not fetched within 200ms: context deadline exceeded",
		},
		{
			name: "the server stops in the middle",
			handler: func(w http.ResponseWriter, r *http.Request) {
				_, _ = w.Write([]byte(magic))
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			},
			want: "not fetched within 200ms: context deadline exceeded",
		},
		{
			name: "the server hangs up in the middle",
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "100")
				_, _ = w.Write([]byte(magic))
			},
			want: "unexpected EOF",
		},
		{
			name: "it announces to be too large",
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "1048577")
				_, _ = w.Write([]byte(magic))
			},
			want: "over guestSizeLimit, 1 MiB: 1048577 bytes",
		},
		{
			name: "it turns out to be too large",
			handler: func(w http.ResponseWriter, _ *http.Request) {
				for block := make([]byte, 64<<10); ; {
					if _, err := w.Write(block); err != nil {
						return
					}
				}
			},
			want: "over guestSizeLimit, 1 MiB",
		},
		{
			name:    "it is a web page",
			handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<!DOCTYPE html><html>")) },
			want:    "not a Wasm module",
		},
		{
			name:    "it is empty",
			handler: func(http.ResponseWriter, *http.Request) {},
			want:    "not a Wasm module",
		},
		{
			name:    "the server sends the fetch round in circles",
			handler: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/guest.wasm", http.StatusFound) },
			want:    "redirected more than 5 times",
		},
		{
			name: "the server sends the fetch to a file",
			handler: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
			},
			want: "redirected to what is neither http nor https",
		},
		{
			name: "the server sends the fetch to an address with a secret in it",
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://%zz/"+secret)
				w.WriteHeader(http.StatusFound)
			},
			want: "the answer is not proper HTTP",
		},
		{
			name:    "the server has words of its own for a status",
			handler: verbatim("HTTP/1.1 500 " + secret + "\r\nContent-Length: 0\r\n\r\n"),
			want:    "the server answered 500 Internal Server Error",
		},
		{
			name:    "the server has a status of its own",
			handler: verbatim("HTTP/1.1 299 " + secret + "\r\nContent-Length: 0\r\n\r\n"),
			want:    "the server answered 299",
		},
		{
			name:    "it is not a web server",
			handler: verbatim(secret + "\r\n"),
			want:    "the answer is not proper HTTP",
		},
		{
			name:    "it is hardly a web server",
			handler: verbatim("HTTP/1.1 200 OK\r\n" + secret + "\r\n\r\n"),
			want:    "the answer is not proper HTTP",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := Fetcher{Timeout: time.Minute}
			if strings.Contains(tt.want, "not fetched within 200ms") {
				f.Timeout = 200 * time.Millisecond
			}
			_, err := f.Fetch(t.Context(), Parse(serve(t, tt.handler)), 1<<20)
			if message(err) != tt.want {
				t.Errorf("got\n%v\nwant\n%s", err, tt.want)
			}
		})
	}
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

func TestWhatAFileHoldsIsNotSaid(t *testing.T) {
	for _, content := range []string{"", "s", secret, "\x00as", "\x00" + secret} {
		file := filepath.Join(t.TempDir(), "guest.wasm")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Fetcher{Timeout: time.Minute}.Fetch(t.Context(), Parse("file://"+file), 1<<20)
		want := "not a Wasm module"
		if message(err) != want {
			t.Errorf("%q: got %v, want %s", content, err, want)
		}
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	const address = "127.0.0.1:1" // a port that was free a moment ago may be another program's by now
	_, err := Fetcher{Timeout: time.Minute}.Fetch(t.Context(), Parse("http://me:secret@"+address), 1<<20)
	want := "dial tcp " + address + ": connect: connection refused"
	if message(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWhatAURLIsShownAs(t *testing.T) {
	for guestURL, want := range map[string]string{
		"https://example.com/guest.wasm":                      "https://example.com/guest.wasm",
		"https://me:secret@example.com/guest.wasm":            "https://me:xxxxx@example.com/guest.wasm",
		"https://example.com/guest.wasm?token=secret&a=b":     "https://example.com/guest.wasm?xxxxx",
		"https://example.com/guest.wasm#secret":               "https://example.com/guest.wasm#xxxxx",
		"https://me:secret@example.com:a/g.wasm?token=secret": "https://…",
		"file://a folder/what?.wasm":                          "file://a folder/what?.wasm",
		"oci://ghcr.io/example/regex:v2":                      "oci://ghcr.io/example/regex:v2",
	} {
		got := Parse(guestURL).String()
		if got != want {
			t.Errorf("%s is shown as %s, want %s", guestURL, got, want)
		}
	}
}

func TestTokenInAURLIsNeverPrinted(t *testing.T) {
	for _, guestURL := range []string{
		serve(t, http.NotFound) + "?token=secret",
		strings.Replace(serve(t, http.NotFound), "http://", "http://secret@", 1) + "#secret",
		"http://127.0.0.1:a/guest.wasm?token=secret",
	} {
		from := Parse(guestURL)
		_, err := Fetcher{Timeout: time.Minute}.Fetch(t.Context(), from, 1<<20)
		if err == nil || strings.Contains(from.String()+err.Error(), "secret") {
			t.Errorf("%s: got %v", from, err)
		}
	}
}

func TestEncryptedFetchStaysEncrypted(t *testing.T) {
	plain := serve(t, func(w http.ResponseWriter, _ *http.Request) { t.Error("it was followed") })
	server := httptest.NewTLSServer(http.RedirectHandler(plain, http.StatusFound))
	defer server.Close()
	f := Fetcher{Transport: server.Client().Transport, Timeout: time.Minute}
	_, err := f.Fetch(t.Context(), Parse(server.URL), 1<<20)
	want := "redirected from https to http"
	if message(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Who reads /proc/kmsg waits for the kernel's next message.
func TestFileThatDoesNotEndIsGivenUp(t *testing.T) {
	const endless = "/proc/kmsg"
	f, err := os.Open(endless)
	if err != nil {
		t.Skipf("no file that blocks its reader: %v", err)
	}
	f.Close()
	_, err = Fetcher{Timeout: 50 * time.Millisecond}.Fetch(t.Context(), Parse("file://"+endless), 1<<30)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
