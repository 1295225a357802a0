package signature

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// The bundles in testdata are by cosign 3.0.2:
//
//	cosign generate-key-pair
//	cosign sign-blob --key cosign.key --use-signing-config=false --tlog-upload=false --bundle blob.sigstore.json guest.wasm
//	cosign sign --key cosign.key --use-signing-config=false --tlog-upload=false localhost:5055/regex@sha256:e306…
//
// The second is the blob of the registry.
const (
	blob  = "\x00asm is how a guest begins\n"
	image = "e30601c69a53ebe1ef3e014e643c4764622d0f767cc1bcc9de97b584a73c781a"
)

func read(t *testing.T, file string) string { return string(testkit.ReadFile(t, "testdata/"+file)) }

func imageDigest(t *testing.T) (digest [sha256.Size]byte) {
	t.Helper()
	if _, err := hex.Decode(digest[:], []byte(image)); err != nil {
		t.Fatal(err)
	}
	return digest
}

func TestVerifyReadsWhatCosignWrites(t *testing.T) {
	ofBlob, ofImage := read(t, "blob.sigstore.json"), read(t, "image.sigstore.json")
	const wrong = "its signature is of other bytes, or by another key"
	for _, tt := range []struct {
		name   string
		bundle string
		digest [sha256.Size]byte
		keys   []string
		want   string // the error
	}{
		{"a blob", ofBlob, sha256.Sum256([]byte(blob)), []string{"testdata/cosign.pub"}, ""},
		{"an image", ofImage, imageDigest(t), []string{"testdata/cosign.pub"}, ""},
		{"the second of two keys", ofImage, imageDigest(t), []string{"testdata/other.pub", "testdata/cosign.pub"}, ""},
		{"a blob by another key", ofBlob, sha256.Sum256([]byte(blob)), []string{"testdata/other.pub"}, wrong},
		{"an image by another key", ofImage, imageDigest(t), []string{"testdata/other.pub"}, wrong},
		{"an empty bundle", "{}", sha256.Sum256([]byte(blob)), []string{"testdata/cosign.pub"}, "its signature is not a bundle with one signature, as cosign writes it"},
		{"another blob", ofBlob, sha256.Sum256([]byte(blob + "!")), []string{"testdata/cosign.pub"}, wrong},
		{"another image", ofImage, sha256.Sum256([]byte(blob)), []string{"testdata/cosign.pub"}, "its signature is of another digest"},
		{"a changed statement", strings.Replace(ofImage, `"payload":"eyJ`, `"payload":"eyK`, 1), imageDigest(t), []string{"testdata/cosign.pub"}, wrong},
	} {
		t.Run(tt.name, func(t *testing.T) {
			keys, err := ReadKeys(tt.keys)
			testkit.Must(t, err)
			testkit.Equal(t, testkit.Message(Verify([]byte(tt.bundle), tt.digest, keys)), tt.want, "the error")
		})
	}
}

func TestReadKeysRefusesWhatIsNoKey(t *testing.T) {
	for want, key := range map[string]string{
		"the key testdata/blob.sigstore.json: not a public key in PEM": "testdata/blob.sigstore.json",
		"no such file":                          "testdata/missing.pub",
		"the key testdata: not a file of a key": "testdata",
		"the key number 1 of verify.keys: not an ECDSA key of the curve P-256": otherCurve(t),
	} {
		_, err := ReadKeys([]string{key})
		testkit.ErrorHas(t, err, want)
	}
	keys, err := ReadKeys([]string{read(t, "cosign.pub")})
	testkit.Must(t, err)
	testkit.Equal(t, Names(keys), "number 1 of verify.keys", "a key in the configuration")
}

func otherCurve(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	testkit.Must(t, err)
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	testkit.Must(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// TestAttestationIsNoSignature: a statement by the same key about the same image that says
// something else, here that it has a bill of materials.
func TestAttestationIsNoSignature(t *testing.T) {
	err := about([]byte(`{"predicateType":"https://spdx.dev/Document","subject":[{"digest":{"sha256":"`+image+`"}}]}`), imageDigest(t))
	testkit.Equal(t, testkit.Message(err), "what is signed is not the statement "+predicateSign, "the error")
}
