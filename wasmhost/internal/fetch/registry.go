package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// wasmLayers are the media types of a layer that is a Wasm module as it stands:
// that of the CNCF's artifact layout, and the one from before it.
var wasmLayers = []types.MediaType{"application/wasm", "application/vnd.wasm.content.layer.v1+wasm"}

var errReference = errors.New("the URL must be oci://registry/name:tag or oci://registry/name@sha256:…, and no password goes into it")

// The stages of a pull.
const (
	stageManifest = "the registry's answer is not a manifest, or not the one with this digest"
	stageLayer    = "the registry's answer is not the layer that the manifest names"
)

// pull fetches the one Wasm layer of an image.
func (f Fetcher) pull(ctx context.Context, image string, limit int64) ([]byte, error) {
	ref, err := name.ParseReference(image, name.StrictValidation)
	if err != nil {
		return nil, errReference
	}
	puller, err := remote.NewPuller(f.options(ctx, limit, maxRequests)...)
	if err != nil {
		return nil, err
	}
	manifest, err := puller.Get(ctx, ref)
	if err != nil {
		return nil, explainPull(err, stageManifest)
	}
	layer, err := wasmLayer(manifest)
	if err != nil {
		return nil, err
	}
	if err := CheckSize(layer.Size, limit); err != nil {
		return nil, err
	}
	wasm, err := readLayer(ctx, puller, ref.Context().Digest(layer.Digest.String()))
	return wasm, explainPull(err, stageLayer)
}

// options bound each answer, in bytes, and the number of requests.
func (f Fetcher) options(ctx context.Context, limit, requests int64) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx),
		remote.WithTransport(&bounded{next: cmp.Or[http.RoundTripper](f.Transport, http.DefaultTransport), limit: limit, most: requests}),
		remote.WithAuthFromKeychain(keychain{}),
		remote.WithRetryPredicate(func(error) bool { return false }), // as for http: whoever starts the scheduler tries again
		remote.WithRetryStatusCodes(),
	}
}

// wasmLayer finds the layer that is the guest.
func wasmLayer(d *remote.Descriptor) (layer v1.Descriptor, err error) {
	if d.MediaType.IsIndex() {
		return layer, errors.New("it is an index of images: name the one with the guest by its digest, @sha256:…")
	}
	manifest, err := parseManifest(d)
	if err != nil {
		return layer, err
	}
	layers := slices.DeleteFunc(manifest.Layers, func(l v1.Descriptor) bool { return !slices.Contains(wasmLayers, l.MediaType) })
	if len(layers) != 1 {
		return layer, fmt.Errorf("the image has %d layers of type %s, but must have one", len(layers), wasmLayers[0])
	}
	return layers[0], nil
}

func parseManifest(d *remote.Descriptor) (*v1.Manifest, error) {
	manifest, err := v1.ParseManifest(bytes.NewReader(d.Manifest))
	if err != nil {
		return nil, failure{"the registry's answer is not a manifest", err}
	}
	return manifest, nil
}

func readLayer(ctx context.Context, puller *remote.Puller, digest name.Digest) ([]byte, error) {
	layer, err := puller.Layer(ctx, digest)
	if err != nil {
		return nil, err
	}
	content, err := layer.Compressed() // as it is stored, which for Wasm is as it is
	if err != nil {
		return nil, err
	}
	defer content.Close()
	return io.ReadAll(content)
}

// explainPull is explain for what a registry may answer, too.
func explainPull(err error, stage string) error {
	var answered *transport.Error
	if !errors.As(err, &answered) {
		return explain(err, stage)
	}
	text := "the registry answered " + status(answered.StatusCode)
	if answered.StatusCode == http.StatusUnauthorized {
		text += ": it wants other credentials than the docker config has"
	}
	return errors.New(text)
}

// keychain is what docker and podman log in with.
type keychain struct{}

func (keychain) Resolve(target authn.Resource) (authn.Authenticator, error) {
	auth, err := authn.DefaultKeychain.Resolve(target)
	if err != nil {
		return nil, failure{text: "reading the docker config: " + err.Error()}
	}
	return auth, nil
}

// bounded is the transport to a registry. It bounds every answer, and the number of
// requests, and keeps them encrypted.
type bounded struct {
	next     http.RoundTripper
	limit    int64 // in bytes
	most     int64 // requests
	requests atomic.Int64
}

// maxRequests bounds how long a registry may lead a fetch around. Four to six are
// what it takes; go-containerregistry follows redirects for ever.
const maxRequests = 6 + maxRedirects

func (b *bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	if b.requests.Add(1) > b.most {
		return nil, errRedirects
	}
	if !encrypted(req) {
		return nil, failure{text: "a registry must speak https, unless it is at localhost"}
	}
	req = req.Clone(req.Context())
	req.Close = true // a handful of requests: keep no connection
	resp, err := b.next.RoundTrip(req)
	if err == nil {
		resp.Body = &boundedBody{resp.Body, b.limit, b.limit}
	}
	return resp, err
}

// encrypted is true of https, and of what does not leave the machine.
func encrypted(req *http.Request) bool {
	host := req.URL.Hostname()
	here := host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host).IsLoopback()
	return req.URL.Scheme == "https" || req.URL.Scheme == "http" && here
}

// boundedBody fails beyond the limit.
type boundedBody struct {
	io.ReadCloser
	left, limit int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		err = errTooLarge(b.limit)
	}
	return n, err
}
