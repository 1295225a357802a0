package wasmhost

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// builtForJS imports what a Go program does with GOOS=js: the function gojs debug.
const builtForJS = "\x00asm\x01\x00\x00\x00" + "\x01\x05\x01\x60\x01\x7f\x00" + "\x02\x0e\x01\x04gojs\x05debug\x00\x00"

// declaresNothing has filter, and a decides_by that returns 0.
const declaresNothing = "\x00asm\x01\x00\x00\x00" + "\x01\x09\x02\x60\x00\x01\x7f\x60\x00\x01\x7e" + "\x03\x03\x02\x00\x01" + "\x05\x03\x01\x00\x01" +
	"\x07\x20\x03\x06memory\x02\x00\x06filter\x00\x00\x0adecides_by\x00\x01" + "\x0a\x0b\x02\x04\x00\x41\x00\x0b\x04\x00\x42\x00\x0b"

func TestStartThatFailsNamesPluginURLAndCause(t *testing.T) {
	for _, tt := range []struct {
		wasm, want string
	}{
		{"\x00asm\x01\x00", "wasm: guest is refused: the file is cut off: it has 6 bytes, and a module has 8 at least"},
		{"\x00asm\x02\x00\x00\x00", "wasm: guest is refused: it is no WebAssembly module of version 1"},
		{
			"\x00asm\x0d\x00\x01\x00",
			"wasm: guest is refused: it is a component of the component model, and not a module: build it for WASI preview 1 (wasip1)",
		},
		{declaresNothing, "wasm: decides_by: no field is declared: with the kit, call decidesby.Set in init"},
		{builtForJS, "wasm: guest is built for JavaScript (GOOS=js): build it with GOOS=wasip1 and -buildmode=c-shared"},
	} {
		h := New(Options{Fetch: func(context.Context, Args) ([]byte, error) { return []byte(tt.wasm), nil }})
		_, err := h.Start(t.Context(), "Wasm", Args{GuestURL: "https://me:secret@example.com/guest.wasm"})
		testkit.Must(t, h.Close())
		want := "plugin Wasm: guest https://xxxxx@example.com/guest.wasm: " + tt.want
		if message(err) != want {
			t.Errorf("got\n%v\nwant\n%s", err, want)
		}
	}
}

// A Fetch of one's own need not look at any of them.
func TestArgsAboutTheGuestHoldWhateverFetchesIt(t *testing.T) {
	wasm, err := fromFiles.Fetch(t.Context(), Args{GuestURL: fileURLOf("empty_filter")})
	testkit.Must(t, err)
	is := fmt.Sprintf("%x", sha256.Sum256(wasm))
	for field, tt := range map[string]struct {
		wasm string
		args Args
		want string
	}{
		"":               {string(wasm), Args{GuestSHA256: strings.ToUpper(is), GuestSizeLimit: quantity(int64(len(wasm)))}, ""},
		"guestSHA256":    {string(wasm), Args{GuestSHA256: digest}, "its SHA-256 is " + is + ", but guestSHA256 asks for " + strings.ToLower(digest)},
		"guestSizeLimit": {string(wasm), Args{GuestSizeLimit: quantity(10)}, fmt.Sprintf("it has %d bytes, but guestSizeLimit is 10", len(wasm))},
		"verify":         {string(wasm), Args{Verify: &Verify{Keys: []string{"a.pub"}}}, "the host cannot verify signatures: set Verify of wasmhost.Options, as package fetch has it"},
	} {
		h := New(Options{Fetch: func(context.Context, Args) ([]byte, error) { return []byte(tt.wasm), nil }})
		tt.args.GuestURL = "https://example.com/guest.wasm"
		_, err := h.Start(t.Context(), "Wasm", tt.args)
		testkit.Must(t, h.Close())
		var about *ArgsError
		if (err == nil) != (field == "") || !strings.HasSuffix(message(err), tt.want) || errors.As(err, &about) && about.Field != field {
			t.Errorf("%q: got %v, want …%s", field, err, tt.want)
		}
	}
}

func TestHostSaysThatItCannotGetGuests(t *testing.T) {
	h := New(Options{})
	defer h.Close()
	_, err := h.Start(t.Context(), "Wasm", Args{GuestURL: fileURLOf("empty_filter")})
	want := "plugin Wasm: guest " + fileURLOf("empty_filter") + ": the host cannot get guests: set Fetch of wasmhost.Options, as package fetch has it"
	if message(err) != want {
		t.Errorf("got %v, want %s", err, want)
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
