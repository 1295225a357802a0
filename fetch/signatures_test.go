package fetch

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// attach stores an artifact about an image, as cosign stores a signature. listed is its type in the list of referrers.
func (r images) attach(t *testing.T, image, listed, artifactType string, layers ...string) {
	t.Helper()
	server := httptest.NewServer(r.registry)
	defer server.Close()
	subject, err := remote.Head(reference(t, server, image))
	testkit.Must(t, err)
	about := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.MediaType(listed))
	for _, content := range layers {
		if about, err = mutate.AppendLayers(about, layer(content, types.MediaType(artifactType))); err != nil {
			t.Fatal(err)
		}
	}
	about = mutate.Subject(about, *subject).(v1.Image)
	digest, err := about.Digest()
	testkit.Must(t, err)
	name, _, _ := strings.Cut(image, ":")
	testkit.Must(t, remote.Write(reference(t, server, name+"@"+digest.String()), about))
}

var ofProgram = sha256.Sum256([]byte(program))

// readBundles are the bundles that are read until one is the last, and the digest that they must sign.
func readBundles(t *testing.T, url, last string) (bundles []string, digest sum, err error) {
	t.Helper()
	f := Fetcher{Timeout: time.Minute}
	err = f.signed(t.Context(), parse(url), ofProgram, func(bundle []byte, of sum) error {
		bundles, digest = append(bundles, string(bundle)), of
		if string(bundle) == last {
			return nil
		}
		return errors.New("by another key")
	})
	return bundles, digest, err
}

// A user who may write to a repository can sign an image, too, and store what looks like a signature.
func TestSignaturesInARegistryHideNoOther(t *testing.T) {
	for name, support := range map[string]bool{"with the referrers API": true, "with the referrers tag": false} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t, nil, registry.WithReferrersSupport(support))
			digest := r.push(t, "team/guest:v1", layer(program, wasmLayers[0]))
			r.attach(t, "team/guest:v1", noType, bundleType, strings.Repeat("x", maxBundle+1))
			for i := range 20 {
				r.attach(t, "team/guest:v1", noType, "application/spdx+json", fmt.Sprint("bill of materials ", i))
				r.attach(t, "team/guest:v1", noType, bundleType, fmt.Sprint(i))
			}
			r.attach(t, "team/guest:v1", noType, bundleType, "ours")
			for _, image := range []string{"team/guest:v1", "team/guest@" + digest} {
				got, signed, err := readBundles(t, "oci://"+r.host+"/"+image, "ours")
				if err != nil || fmt.Sprintf("sha256:%x", signed) != digest || strings.Contains(strings.Join(got, " "), "bill") {
					t.Errorf("%s: got %s of %x, %v", image, got, signed, err)
				}
			}
		})
	}
}

func TestSignaturesThatCannotBeUsed(t *testing.T) {
	r := newRegistry(t, nil)
	r.push(t, "unsigned:v1", layer(program, wasmLayers[0]))
	r.push(t, "moved:v1", layer(program+"2", wasmLayers[0]))
	r.push(t, "two:v1", layer(program, wasmLayers[0]))
	r.attach(t, "two:v1", noType, bundleType, secret, "and another layer")
	r.push(t, "large:v1", layer(program, wasmLayers[0]))
	r.attach(t, "large:v1", noType, bundleType, strings.Repeat("x", maxBundle+1))
	for image, want := range map[string]string{
		"unsigned:v1": "it has no signature",
		"moved:v1":    "the image has changed since the guest was fetched",
		"two:v1":      "it has no signature",
		"large:v1":    "a signature has more than 1048576 bytes",
		"absent:v1":   "the registry answered 404 Not Found",
	} {
		bundles, _, err := readBundles(t, "oci://"+r.host+"/"+image, "")
		if testkit.Message(err) != want || len(bundles) > 0 {
			t.Errorf("%s: got %q, %v, want %s", image, bundles, err, want)
		}
	}
}

func TestReferrersOfOtherTypesAreNotFetched(t *testing.T) {
	for name, listed := range map[string]string{"listed as a bundle": bundleType, "listed without a type": noType} {
		t.Run(name, func(t *testing.T) {
			var fetched atomic.Int32
			r := newRegistry(t, func(stored http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					fetched.Add(1)
					stored.ServeHTTP(w, r)
				})
			})
			r.push(t, "guest:v1", layer(program, wasmLayers[0]))
			for i := range 60 {
				r.attach(t, "guest:v1", "application/spdx+json", "application/spdx+json", fmt.Sprint("bill of materials ", i))
			}
			r.attach(t, "guest:v1", listed, bundleType, "ours")
			for i := range 5 {
				r.attach(t, "guest:v1", noType, "text/plain", fmt.Sprint("note ", i))
			}
			got, _, err := readBundles(t, "oci://"+r.host+"/guest:v1", "ours")
			if err != nil || fmt.Sprint(got) != "[ours]" || fetched.Load() > 20 {
				t.Errorf("got %q, %v, by %d requests", got, err, fetched.Load())
			}
			t.Log(fetched.Load(), "requests")
		})
	}
}

// Nor does such a user make a start endless.
func TestSignaturesAreSoughtForALimitedTime(t *testing.T) {
	r := newRegistry(t, nil)
	r.push(t, "guest:v1", layer(program, wasmLayers[0]))
	r.attach(t, "guest:v1", noType, bundleType, "another")
	f := Fetcher{Timeout: time.Second}
	server := httptest.NewServer(at("/blobs/", silence)(r.registry))
	defer server.Close()
	err := f.signed(t.Context(), parse("oci://"+strings.TrimPrefix(server.URL, "http://")+"/guest:v1"), ofProgram, nil)
	testkit.Equal(t, testkit.Message(err), "no signature was found in time: context deadline exceeded", "the error")
}

// The query stays where it is, with its secrets.
func TestSignatureOfABlobIsBesideItAndOfItsBytesDigest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.URL.RequestURI()))
	}))
	defer server.Close()
	got, digest, err := readBundles(t, server.URL+"/a%2Fb.wasm?token=1", "")
	if testkit.Message(err) != "by another key" || digest != ofProgram || fmt.Sprint(got) != "[/a%2Fb.wasm.sigstore.json?token=1]" {
		t.Errorf("got %s, %x, %v", got, digest, err)
	}
}

// newSigner makes a key. It returns the file of its public half, and what cosign sign-blob --bundle writes, as far as it is read.
func newSigner(t *testing.T, name string) (file string, sign func(content []byte) string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(t, err)
	der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	testkit.Must(t, err)
	file = testkit.TempFile(t, name, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	return file, func(content []byte) string {
		digest := sha256.Sum256(content)
		signature, err := ecdsa.SignASN1(rand.Reader, private, digest[:])
		testkit.Must(t, err)
		return `{"messageSignature":{"signature":"` + base64.StdEncoding.EncodeToString(signature) + `"}}`
	}
}

// Package signature has the signatures and keys that are not valid.
func TestGuestWithoutASignatureOfAKeyIsRefused(t *testing.T) {
	ours, sign := newSigner(t, "ours.pub")
	other, signOther := newSigner(t, "other.pub")
	wasm, guest := []byte(program), testkit.TempFile(t, "guest.wasm", program)
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
			testkit.WriteFile(t, guest+".sigstore.json", tt.bundle)
		}
		err := Fetcher{}.Verify(t.Context(), wasmhost.Args{GuestURL: "file://" + guest, Verify: &wasmhost.Verify{Keys: tt.keys}}, ofProgram)
		if (err == nil) != (tt.want == "") || !strings.Contains(testkit.Message(err), tt.want) || strings.Contains(testkit.Message(err), "secret") {
			t.Errorf("%s: got %v, want …%s…", name, err, tt.want)
		}
	}
}
