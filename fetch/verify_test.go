package fetch

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// newSigner makes a key. It returns the file of its public half, and what cosign sign-blob --bundle writes, as far as it is read.
func newSigner(t *testing.T, name string) (file string, sign func(content []byte) string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(t, err)
	der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	testkit.Must(t, err)
	file = filepath.Join(t.TempDir(), name)
	write(t, file, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	return file, func(content []byte) string {
		digest := sha256.Sum256(content)
		signature, err := ecdsa.SignASN1(rand.Reader, private, digest[:])
		testkit.Must(t, err)
		return `{"messageSignature":{"signature":"` + base64.StdEncoding.EncodeToString(signature) + `"}}`
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	testkit.Must(t, os.WriteFile(file, []byte(text), 0o600))
}

// Package signature has the signatures and keys that are not valid.
func TestGuestWithoutASignatureOfAKeyIsRefused(t *testing.T) {
	ours, sign := newSigner(t, "ours.pub")
	other, signOther := newSigner(t, "other.pub")
	wasm, guest := []byte(program), filepath.Join(t.TempDir(), "guest.wasm")
	write(t, guest, string(wasm))
	for name, tt := range map[string]struct {
		bundle string
		keys   []string
		want   string // in the error; empty is none
	}{
		"signed":                {sign(wasm), []string{ours}, ""},
		"signed by one of two":  {sign(wasm), []string{other, ours}, ""},
		"no signature":          {"", []string{ours}, "its signature, file://" + guest + ".sigstore.json: "},
		"another key":           {signOther(wasm), []string{ours}, "its signature is of other bytes, or by another key; keys that may sign: " + ours},
		"another guest":         {sign(append(wasm, 0)), []string{ours}, "its signature is of other bytes, or by another key"},
		"no bundle":             {"secret", []string{ours}, "its signature is not a bundle, as cosign writes it"},
		"a key that is not one": {sign(wasm), []string{guest}, "the key " + guest + ": not a public key in PEM"},
		"no keys":               {sign(wasm), nil, "its signature is of other bytes, or by another key"},
	} {
		_ = os.Remove(guest + ".sigstore.json")
		if tt.bundle != "" {
			write(t, guest+".sigstore.json", tt.bundle)
		}
		err := Fetcher{}.Verify(t.Context(), wasmhost.Args{GuestURL: "file://" + guest, Verify: &wasmhost.Verify{Keys: tt.keys}}, ofProgram)
		if (err == nil) != (tt.want == "") || !strings.Contains(message(err), tt.want) || strings.Contains(message(err), "secret") {
			t.Errorf("%s: got %v, want …%s…", name, err, tt.want)
		}
	}
}
