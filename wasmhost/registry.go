package wasmhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

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

// pull fetches a guest from a registry: the one Wasm layer of an image. It is
// done within the timeout.
func (h *Host) pull(ctx context.Context, image string, limit int64) ([]byte, error) {
	ref, err := name.ParseReference(image, name.StrictValidation)
	if err != nil {
		return nil, errReference
	}
	ctx, cancel := context.WithTimeout(ctx, h.timeout())
	defer cancel()
	w := &wire{transport: h.Transport, limit: limit}
	wasm, err := pullLayer(ctx, ref, w)
	if err != nil {
		return nil, h.explainPull(ctx, err, w)
	}
	return wasm, nil
}

func pullLayer(ctx context.Context, ref name.Reference, w *wire) ([]byte, error) {
	puller, err := remote.NewPuller(
		remote.WithTransport(w),
		remote.WithAuthFromKeychain(keychain{}),
		remote.WithRetryPredicate(func(error) bool { return false }), // as for http: whoever starts the scheduler tries again
		remote.WithRetryStatusCodes(),
	)
	if err != nil {
		return nil, err
	}
	manifest, err := puller.Get(ctx, ref)
	if err != nil {
		return nil, answerError{"the registry's answer is no manifest, or not the one with this digest", err}
	}
	layer, err := wasmLayer(manifest)
	if err != nil {
		return nil, err
	}
	if err := checkSize(layer.Size, w.limit); err != nil {
		return nil, err
	}
	blob, err := puller.Layer(ctx, ref.Context().Digest(layer.Digest.String()))
	if err != nil {
		return nil, answerError{errLayer, err}
	}
	content, err := blob.Compressed() // as it is stored, which for Wasm is as it is
	if err != nil {
		return nil, answerError{errLayer, err}
	}
	defer content.Close()
	wasm, err := io.ReadAll(content)
	if err != nil {
		return nil, answerError{errLayer, err}
	}
	return wasm, nil
}

const errLayer = "the registry's answer is not the layer that the manifest names"

// wasmLayer finds the layer that is the guest.
func wasmLayer(d *remote.Descriptor) (v1.Descriptor, error) {
	if d.MediaType.IsIndex() {
		return v1.Descriptor{}, ourErrorf("it is an index of images: name the one with the guest by its digest, @sha256:…")
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(d.Manifest))
	if err != nil {
		return v1.Descriptor{}, answerError{"the registry's answer is no manifest", err}
	}
	var found []v1.Descriptor
	for _, layer := range manifest.Layers {
		for _, mediaType := range wasmLayers {
			if layer.MediaType == mediaType {
				found = append(found, layer)
			}
		}
	}
	if len(found) != 1 {
		return v1.Descriptor{}, ourErrorf("the image has %d layers of type %s, but must have one", len(found), wasmLayers[0])
	}
	return found[0], nil
}

// explainPull says what went wrong in words that no server has chosen.
func (h *Host) explainPull(ctx context.Context, err error, w *wire) error {
	var answered *transport.Error
	var credentials credentialsError
	var words answerError
	switch last := w.lastError(); {
	case ctx.Err() != nil:
		return h.explain(ctx, ctx.Err())
	case errors.As(err, &answered) && answered.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("the registry answered %s: it wants other credentials than the docker config has", status(answered.StatusCode))
	case errors.As(err, &answered):
		return fmt.Errorf("the registry answered %s", status(answered.StatusCode))
	case errors.As(err, &credentials):
		return credentials
	case last != nil:
		return h.explain(ctx, last)
	case errors.As(err, &words):
		return ourError(words.words)
	}
	return h.explain(ctx, err)
}

// answerError is about an answer. Its cause may quote that, so it is not shown.
type answerError struct {
	words string
	cause error
}

func (e answerError) Error() string { return e.words }
func (e answerError) Unwrap() error { return e.cause }

// keychain is what docker and podman log in with.
type keychain struct{}

func (keychain) Resolve(target authn.Resource) (authn.Authenticator, error) {
	auth, err := authn.DefaultKeychain.Resolve(target)
	if err != nil {
		return nil, credentialsError{err}
	}
	return auth, nil
}

type credentialsError struct{ cause error }

func (e credentialsError) Error() string { return "reading the docker config: " + e.cause.Error() }
func (e credentialsError) Unwrap() error { return e.cause }

// wire is what a registry is spoken to over. It bounds every answer, keeps
// requests encrypted, and remembers how the last one failed: the library wraps
// that into what the server said.
type wire struct {
	transport http.RoundTripper
	limit     int64

	mu    sync.Mutex
	last  error
	asked int
}

// maxRequests bounds how long a registry may lead a fetch around. Four to six
// are what it takes; the library follows redirects for ever.
const maxRequests = 6 + maxRedirects

func (w *wire) lastError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// keep remembers how a request went, unless nobody wanted it any more.
func (w *wire) keep(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.last = err
	}
	return err
}

func (w *wire) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	return w.asked
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if w.count() > maxRequests {
		return nil, w.keep(req.Context(), ourErrorf("redirected more than %d times", maxRedirects))
	}
	if !encrypted(req) {
		return nil, w.keep(req.Context(), ourErrorf("a registry must speak https, unless it is at localhost"))
	}
	next := w.transport
	if next == nil {
		next = http.DefaultTransport
	}
	req = req.Clone(req.Context())
	req.Close = true // a handful of requests: keep no connection behind
	resp, err := next.RoundTrip(req)
	if err != nil {
		return nil, w.keep(req.Context(), err)
	}
	resp.Body = &bounded{ReadCloser: resp.Body, wire: w, ctx: req.Context(), left: w.limit}
	return resp, w.keep(req.Context(), nil)
}

// encrypted is true of https, and of what does not leave the machine.
func encrypted(req *http.Request) bool {
	host := req.URL.Hostname()
	here := host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host).IsLoopback()
	return req.URL.Scheme == "https" || req.URL.Scheme == "http" && here
}

// bounded is a body that fails beyond the limit.
type bounded struct {
	io.ReadCloser
	wire *wire
	ctx  context.Context
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		err = tooLarge(b.wire.limit, "")
	}
	if err != nil && err != io.EOF {
		return n, b.wire.keep(b.ctx, err)
	}
	return n, err
}
