package wasmhost

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serve answers with what a test wants.
func serve(t *testing.T, handler http.HandlerFunc) (guestURL string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL + "/guest.wasm"
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}

// builtForJS imports what a Go program does with GOOS=js: the function gojs debug.
const builtForJS = "\x00asm\x01\x00\x00\x00" + "\x01\x05\x01\x60\x01\x7f\x00" + "\x02\x0e\x01\x04gojs\x05debug\x00\x00"

// declaresNothing has filter, and a decides_by that returns 0.
const declaresNothing = "\x00asm\x01\x00\x00\x00" + "\x01\x09\x02\x60\x00\x01\x7f\x60\x00\x01\x7e" + "\x03\x03\x02\x00\x01" + "\x05\x03\x01\x00\x01" +
	"\x07\x20\x03\x06memory\x02\x00\x06filter\x00\x00\x0adecides_by\x00\x01" + "\x0a\x0b\x02\x04\x00\x41\x00\x0b\x04\x00\x42\x00\x0b"

func TestStartThatFailsNamesPluginURLAndCause(t *testing.T) {
	for _, tt := range []struct {
		handler http.HandlerFunc
		want    string
	}{
		{http.NotFound, "the server answered 404 Not Found"},
		{says("\x00asm\x01\x00"), "wasm: guest is refused: the file is cut off: it has 6 bytes, and a module has 8 at least"},
		{says("\x00asm\x02\x00\x00\x00"), "wasm: guest is refused: it is no WebAssembly module of version 1"},
		{
			says("\x00asm\x0d\x00\x01\x00"),
			"wasm: guest is refused: it is a component of the component model, and not a module: build it for WASI preview 1 (wasip1)",
		},
		{says(declaresNothing), "wasm: decides_by: no field is declared: with the kit, call decidesby.Set in init"},
		{says(builtForJS), "wasm: guest is built for JavaScript (GOOS=js): build it with GOOS=wasip1 and -buildmode=c-shared"},
	} {
		guestURL := serve(t, tt.handler)
		err := startError(t, Args{GuestURL: strings.Replace(guestURL, "://", "://me:secret@", 1)})
		want := "plugin Wasm: guest " + strings.Replace(guestURL, "://", "://xxxxx@", 1) + ": " + tt.want
		if message(err) != want {
			t.Errorf("got\n%v\nwant\n%s", err, want)
		}
	}
}

func TestDigestOfAGuest(t *testing.T) {
	sum := sha256.Sum256(readGuest(t, "empty_filter"))
	is, other := hex.EncodeToString(sum[:]), strings.Repeat("00", 32)
	for digest, want := range map[string]string{"": "", is: "", strings.ToUpper(is): "", other: "its SHA-256 is " + is + ", but guestSHA256 asks for " + other} {
		err := startError(t, Args{GuestURL: fileURLOf("empty_filter"), GuestSHA256: digest})
		if !strings.HasSuffix(message(err), want) || (err == nil) != (want == "") {
			t.Errorf("%q: got %v, want %s", digest, err, want)
		}
	}
}

func TestGuestThatCanDecideNothingDoesNotStart(t *testing.T) {
	for guest, want := range map[string]string{
		"start_exit": "failed to create a guest pool: wasm: _start error: module closed with exit_code(0): the guest is built as a program, " +
			"which ends with its main; build it with -buildmode=c-shared (Go) or -buildmode=wasi-legacy (TinyGo)",
		"main_not_run": "wasm: none of the guest's functions decides anything: it is built as a library, whose main is not run; " +
			"register the plugin in init, or build it with -buildmode=wasi-legacy (TinyGo)",
	} {
		err := startError(t, Args{GuestURL: fileURLOf(guest)})
		if message(err) != "plugin Wasm: guest "+fileURLOf(guest)+": "+want {
			t.Errorf("%s: got\n%v\nwant\n%s", guest, err, want)
		}
	}
}
