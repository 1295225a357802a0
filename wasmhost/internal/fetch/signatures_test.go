package fetch

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// attach stores an artifact about an image, as cosign stores a signature.
func (r images) attach(t *testing.T, image, artifactType string, layers ...string) {
	t.Helper()
	server := httptest.NewServer(r.registry)
	defer server.Close()
	subject, err := remote.Head(reference(t, server, image))
	if err != nil {
		t.Fatal(err)
	}
	about := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), "application/vnd.oci.empty.v1+json")
	for _, content := range layers {
		if about, err = mutate.AppendLayers(about, layer(content, types.MediaType(artifactType))); err != nil {
			t.Fatal(err)
		}
	}
	about = mutate.Subject(about, *subject).(v1.Image)
	digest, err := about.Digest()
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(image, ":")
	if err := remote.Write(reference(t, server, name+"@"+digest.String()), about); err != nil {
		t.Fatal(err)
	}
}

func TestSignaturesInARegistry(t *testing.T) {
	for name, support := range map[string]bool{"with the referrers API": true, "with the referrers tag": false} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t, nil, registry.WithReferrersSupport(support))
			digest := r.push(t, "team/guest:v1", layer(program, wasmLayers[0]))
			r.attach(t, "team/guest:v1", bundleType, "one")
			r.attach(t, "team/guest:v1", "application/spdx+json", "a bill of materials")
			r.attach(t, "team/guest:v1", bundleType, "two")
			for _, image := range []string{"team/guest:v1", "team/guest@" + digest} {
				f := Fetcher{Timeout: time.Minute}
				got, signed, err := f.Signatures(t.Context(), Parse("oci://"+r.host+"/"+image), []byte(program))
				slices.SortFunc(got, bytes.Compare)
				if err != nil || fmt.Sprintf("%s sha256:%x", got, signed) != "[one two] "+digest {
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
	r.attach(t, "two:v1", bundleType, secret, "and another layer")
	r.push(t, "large:v1", layer(program, wasmLayers[0]))
	r.attach(t, "large:v1", bundleType, strings.Repeat("x", maxBundle+1))
	for image, want := range map[string]string{
		"unsigned:v1": "",
		"moved:v1":    "the image has changed since the guest was fetched",
		"two:v1":      "",
		"large:v1":    "a signature has more than 1048576 bytes",
		"nobody:v1":   "the registry answered 404 Not Found",
	} {
		f := Fetcher{Timeout: time.Minute}
		bundles, _, err := f.Signatures(t.Context(), Parse("oci://"+r.host+"/"+image), []byte(program))
		if message(err) != want || len(bundles) > 0 {
			t.Errorf("%s: got %q, %v, want %s", image, bundles, err, want)
		}
	}
}

// TestMoreSignaturesThanAreRead: whoever may write to a registry does not make a start endless.
func TestMoreSignaturesThanAreRead(t *testing.T) {
	r := newRegistry(t, nil)
	r.push(t, "guest:v1", layer(program, wasmLayers[0]))
	for i := range maxReferrers + 1 {
		r.attach(t, "guest:v1", bundleType, fmt.Sprint(i))
	}
	f := Fetcher{Timeout: time.Minute}
	if bundles, _, err := f.Signatures(t.Context(), Parse("oci://"+r.host+"/guest:v1"), []byte(program)); err != nil || len(bundles) != maxReferrers {
		t.Errorf("got %d, %v", len(bundles), err)
	}
}

func TestTheDigestOfABlobIsThatOfItsBytes(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.URL.Path))
	}))
	defer server.Close()
	f := Fetcher{Timeout: time.Minute}
	got, digest, err := f.Signatures(t.Context(), Parse(server.URL+"/a%2Fb.wasm"), []byte(program))
	if err != nil || digest != sha256.Sum256([]byte(program)) || fmt.Sprintf("%s", got) != "[/a/b.wasm.sigstore.json]" {
		t.Errorf("got %s, %x, %v", got, digest, err)
	}
}
