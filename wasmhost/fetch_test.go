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
		{"", "the host cannot get guests: set Fetch of wasmhost.Options, as package fetch has it"}, // without a Fetch
	} {
		options := Options{}
		if tt.wasm != "" {
			options = giving([]byte(tt.wasm))
		}
		err := startErrorOf(t, options, Args{GuestURL: "https://me:secret@example.com/guest.wasm"})
		testkit.Equal(t, testkit.Message(err), "plugin Wasm: guest https://xxxxx@example.com/guest.wasm: "+tt.want, "the error")
	}
}

// giving has a Host get the same guest from any URL.
func giving(wasm []byte) Options {
	return Options{Fetch: func(context.Context, Args) ([]byte, error) { return wasm, nil }}
}

// A Fetch of one's own need not look at any of them.
func TestArgsAboutTheGuestHoldWhateverFetchesIt(t *testing.T) {
	wasm, err := fromFiles.Fetch(t.Context(), Args{GuestURL: fileURLOf("empty_filter")})
	testkit.Must(t, err)
	is := fmt.Sprintf("%x", sha256.Sum256(wasm))
	for field, tt := range map[string]struct {
		args Args
		want string
	}{
		"":               {Args{GuestSHA256: strings.ToUpper(is), GuestSizeLimit: quantity(int64(len(wasm)))}, ""},
		"guestSHA256":    {Args{GuestSHA256: digest}, "its SHA-256 is " + is + ", but guestSHA256 asks for " + strings.ToLower(digest)},
		"guestSizeLimit": {Args{GuestSizeLimit: quantity(10)}, fmt.Sprintf("it has %d bytes, but guestSizeLimit is 10", len(wasm))},
		"verify":         {Args{Verify: &Verify{Keys: []string{"a.pub"}}}, "the host cannot verify signatures: set Verify of wasmhost.Options, as package fetch has it"},
	} {
		tt.args.GuestURL = "https://example.com/guest.wasm"
		err := startErrorOf(t, giving(wasm), tt.args)
		var about *ArgsError
		if (err == nil) != (field == "") || !strings.HasSuffix(testkit.Message(err), tt.want) || errors.As(err, &about) && about.Field != field {
			t.Errorf("%q: got %v, want …%s", field, err, tt.want)
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
		testkit.Equal(t, testkit.Message(err), "plugin Wasm: guest "+fileURLOf(guest)+": "+want, "%s", guest)
	}
}
