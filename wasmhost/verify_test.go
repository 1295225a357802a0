package wasmhost

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// signer is a key, and the file of its public half.
type signer struct {
	private *ecdsa.PrivateKey
	file    string
}

func newSigner(t *testing.T, name string) signer {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := signer{private, filepath.Join(t.TempDir(), name)}
	write(t, s.file, publicPEM(t, &private.PublicKey))
	return s
}

func publicPEM(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sign is what cosign sign-blob --bundle writes, as far as it is read.
func (s signer) sign(t *testing.T, content []byte) string {
	t.Helper()
	digest := sha256.Sum256(content)
	signature, err := ecdsa.SignASN1(rand.Reader, s.private, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return `{"messageSignature":{"signature":"` + base64.StdEncoding.EncodeToString(signature) + `"}}`
}

func TestGuestWithoutASignatureOfAKeyIsRefused(t *testing.T) {
	ours, other := newSigner(t, "ours.pub"), newSigner(t, "other.pub")
	wasm := readGuest(t, "empty_filter")
	text, err := os.ReadFile(ours.file)
	if err != nil {
		t.Fatal(err)
	}
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	guest := filepath.Join(t.TempDir(), "guest.wasm")
	write(t, guest, string(wasm))
	for _, tt := range []struct {
		name, bundle string
		keys         []string
		want         string // in the error; empty is none
	}{
		{"signed", ours.sign(t, wasm), []string{ours.file}, ""},
		{"signed by one of two", ours.sign(t, wasm), []string{other.file, ours.file}, ""},
		{"a key in the configuration", ours.sign(t, wasm), []string{string(text)}, ""},
		{"no signature", "", []string{ours.file}, "its signature, file://" + guest + ".sigstore.json: "},
		{
			"another key", other.sign(t, wasm),
			[]string{ours.file},
			"its signature is of other bytes, or by another key; keys that may sign: " + ours.file,
		},
		{
			"another guest", ours.sign(t, append(wasm, 0)),
			[]string{string(text)},
			"its signature is of other bytes, or by another key; keys that may sign: number 1 of verify.keys",
		},
		{"no bundle", "secret", []string{ours.file}, "its signature is not a bundle, as cosign writes it"},
		{"an empty bundle", "{}", []string{ours.file}, "its signature is not a bundle with one signature"},
		{"no key", ours.sign(t, wasm), []string{guest}, "the key " + guest + ": not a public key in PEM"},
		{"no file", ours.sign(t, wasm), []string{guest + ".pub"}, "no such file"},
		{"a folder", ours.sign(t, wasm), []string{filepath.Dir(guest)}, "not a file of a key"},
		{"a key of RSA", ours.sign(t, wasm), []string{publicPEM(t, &weak.PublicKey)}, "the key number 1 of verify.keys: not an ECDSA key of the curve P-256"},
		{"no keys", ours.sign(t, wasm), nil, "verify is without keys"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_ = os.Remove(guest + ".sigstore.json")
			if tt.bundle != "" {
				write(t, guest+".sigstore.json", tt.bundle)
			}
			h := New(Options{})
			defer h.Close()
			_, err := h.Start(t.Context(), "Wasm", Args{GuestURL: "file://" + guest, Verify: &Verify{Keys: tt.keys}})
			if (err == nil) != (tt.want == "") || !strings.Contains(message(err), tt.want) {
				t.Errorf("got %v, want …%s…", err, tt.want)
			}
			if strings.Contains(message(err), "secret") {
				t.Errorf("it quotes what it has read: %v", err)
			}
		})
	}
}

// TestGuestOfAWebServerHasItsSignatureBesideIt: the query stays where it is, with its secrets.
func TestGuestOfAWebServerHasItsSignatureBesideIt(t *testing.T) {
	ours, wasm := newSigner(t, "ours.pub"), readGuest(t, "empty_filter")
	h := New(Options{Transport: byPath{"/guest.wasm?token=1": string(wasm), "/guest.wasm.sigstore.json?token=1": ours.sign(t, wasm)}})
	defer h.Close()
	args := Args{GuestURL: "http://guests/guest.wasm?token=1", Verify: &Verify{Keys: []string{ours.file}}}
	if _, err := h.Start(t.Context(), "Wasm", args); err != nil {
		t.Error(err)
	}
	args.GuestURL = "http://guests/guest.wasm?token=2"
	_, err := h.Start(t.Context(), "Wasm", args)
	if err == nil || strings.Contains(err.Error(), "token=2") {
		t.Errorf("got %v, want an error without the query", err)
	}
}

// byPath answers for a path and query.
type byPath map[string]string

func (texts byPath) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	text, ok := texts[req.URL.RequestURI()]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
	}
	_, _ = w.WriteString(text)
	return w.Result(), nil
}
