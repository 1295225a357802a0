package fetch

import (
	"cmp"
	"context"
	"encoding/json"
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

// maxManifest bounds a manifest and a list of manifests, in bytes. No registry has to take a larger
// one. Decoded, it can take a hundred times as much.
const maxManifest = 4 << 20

// pull fetches the one Wasm layer of an image, unless the image has that version.
func (f Fetcher) pull(ctx context.Context, image string, limit int64, version string) (wasm []byte, now string, err error) {
	c, err := f.client(ctx, image, maxRequests)
	if err != nil {
		return nil, "", err
	}
	if version != "" {
		tag, err := c.puller.Head(ctx, c.image) // which registries do not count as a pull
		if err == nil && tag.Digest.String() == version {
			return nil, version, nil
		}
	}
	layer, manifest, err := c.guest(ctx)
	if err != nil {
		return nil, "", err
	}
	if manifest.String() == version {
		return nil, version, nil
	}
	if layer.Size > limit {
		return nil, "", errTooLarge(limit, layer.Size)
	}
	wasm, err = c.layer(ctx, layer.Digest, limit, errTooLarge(limit, -1))
	return wasm, manifest.String(), explainPull(err, stageLayer)
}

// client asks a registry about an image. It is for one goroutine at a time.
type client struct {
	image   name.Reference
	puller  *remote.Puller
	options []remote.Option
	answers *bounded
}

// client bounds the number of requests.
func (f Fetcher) client(ctx context.Context, image string, requests int64) (*client, error) {
	ref, err := name.ParseReference(image, name.StrictValidation)
	if err != nil {
		return nil, errReference
	}
	c := &client{image: ref, answers: &bounded{next: cmp.Or[http.RoundTripper](f.Transport, http.DefaultTransport), most: requests}}
	c.limitTo(maxManifest, errManifest)
	c.options = []remote.Option{
		remote.WithContext(ctx),
		remote.WithTransport(c.answers),
		remote.WithAuthFromKeychain(keychain{}),
		remote.WithRetryPredicate(func(error) bool { return false }), // as for http: the one who starts the scheduler tries again
		remote.WithRetryStatusCodes(),
	}
	c.puller, err = remote.NewPuller(c.options...)
	return c, err
}

var errManifest = failure{text: fmt.Sprintf("a manifest of the registry has more than %d MiB", maxManifest>>20)}

// limitTo bounds further answers, in bytes.
func (c *client) limitTo(limit int64, tooLarge error) {
	c.answers.limit, c.answers.tooLarge = limit, tooLarge
}

// at is what has a digest, beside the image.
func (c *client) at(digest v1.Hash) name.Digest { return c.image.Context().Digest(digest.String()) }

// guest finds the layer that is the guest, and the digest of its manifest.
func (c *client) guest(ctx context.Context) (found described, manifest v1.Hash, err error) {
	descriptor, err := c.puller.Get(ctx, c.image)
	if err != nil {
		return found, manifest, explainPull(err, stageManifest)
	}
	found, err = wasmLayer(descriptor)
	return found, descriptor.Digest, err
}

// layer reads a layer of at most that many bytes, as it is stored.
func (c *client) layer(ctx context.Context, digest v1.Hash, limit int64, tooLarge error) ([]byte, error) {
	c.limitTo(limit, tooLarge)
	defer c.limitTo(maxManifest, errManifest)
	layer, err := c.puller.Layer(ctx, c.at(digest))
	if err != nil {
		return nil, err
	}
	content, err := layer.Compressed() // which for Wasm is as it is
	if err != nil {
		return nil, err
	}
	defer content.Close()
	return io.ReadAll(content)
}

// wasmLayer finds the layer that is the guest.
func wasmLayer(d *remote.Descriptor) (found described, err error) {
	if d.MediaType.IsIndex() {
		return found, errors.New("it is an index of images: name the one with the guest by its digest, @sha256:…")
	}
	manifest, err := parseManifest(d)
	if err != nil {
		return found, err
	}
	layers := slices.DeleteFunc(manifest.Layers, func(l described) bool { return !slices.Contains(wasmLayers, l.MediaType) })
	if len(layers) != 1 {
		return found, fmt.Errorf("the image has %d layers of type %s, but must have one", len(layers), wasmLayers[0])
	}
	return layers[0], nil
}

// manifest is what is read of one. All of v1.Manifest takes 600 MB for 4 MiB of empty layers.
type manifest struct {
	Layers []described `json:"layers"`
}

// described is what a manifest says of a layer.
type described struct {
	MediaType types.MediaType `json:"mediaType"`
	Digest    v1.Hash         `json:"digest"`
	Size      int64           `json:"size"`
}

func parseManifest(d *remote.Descriptor) (m manifest, err error) {
	if err := json.Unmarshal(d.Manifest, &m); err != nil {
		return m, failure{"the registry's answer is not a manifest", err}
	}
	return m, nil
}

// explainPull is explain for what a registry may answer, too.
func explainPull(err error, stage string) error {
	var answer *transport.Error
	if !errors.As(err, &answer) {
		return explain(err, stage)
	}
	hint := ""
	if answer.StatusCode == http.StatusUnauthorized {
		hint = ": it wants other credentials than the docker config has"
	}
	return answered("the registry", answer.StatusCode, hint)
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
	tooLarge error // of an answer beyond it
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
	resp, err := b.next.RoundTrip(req)
	if err == nil {
		resp.Body = &boundedBody{resp.Body, b.limit, b.tooLarge}
	}
	return resp, err
}

// encrypted reports whether a URL is https, or one of what does not leave the machine.
func encrypted(req *http.Request) bool {
	host := req.URL.Hostname()
	here := host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host).IsLoopback()
	return req.URL.Scheme == "https" || req.URL.Scheme == "http" && here
}

// boundedBody fails beyond the limit.
type boundedBody struct {
	io.ReadCloser
	left     int64
	tooLarge error
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		err = b.tooLarge
	}
	return n, err
}
