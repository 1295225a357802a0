package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// The limits of what is read to find a signature.
const (
	maxBundle    = 1 << 20 // bytes
	maxReferrers = 16
)

// bundleType is the type of the one layer of a signature by cosign in a registry
// (https://github.com/sigstore/cosign/blob/main/specs/BUNDLE_SPEC.md).
const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// suffix is of the file with the signature, beside that of the guest.
const suffix = ".sigstore.json"

// Signatures fetches the signatures of a guest that was fetched, and returns the digest that they
// must be of. Beside a file it is one, of the guest's bytes; in a registry they are of the
// manifest, which has the guest's digest.
func (f Fetcher) Signatures(ctx context.Context, from Source, wasm []byte) (bundles [][]byte, digest [sha256.Size]byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	if from.scheme == "oci" {
		bundles, digest, err = f.referrers(ctx, from.rest, wasm)
	} else {
		bundles, digest, err = f.beside(ctx, from, wasm)
	}
	if errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("a signature has more than %d bytes", maxBundle)
	}
	return bundles, digest, err
}

func (f Fetcher) beside(ctx context.Context, from Source, wasm []byte) (bundles [][]byte, digest [sha256.Size]byte, err error) {
	var one []byte
	signature := from.with(suffix)
	if from.scheme == "file" {
		one, err = readWithin(ctx, signature.rest, maxBundle)
	} else {
		one, err = f.download(ctx, signature, maxBundle)
	}
	if err != nil {
		return nil, digest, fmt.Errorf("its signature, %s: %w", signature, err)
	}
	return [][]byte{one}, sha256.Sum256(wasm), nil
}

// with is the source with a longer path.
func (s Source) with(suffix string) Source {
	if s.scheme == "file" || s.url == nil {
		return Parse(s.scheme + "://" + s.rest + suffix)
	}
	longer := *s.url
	longer.Path += suffix
	if longer.RawPath != "" {
		longer.RawPath += suffix
	}
	return Parse(longer.String())
}

// referrers reads the signatures of an image by OCI's referrers. The name may lead to another
// image than when the guest was fetched: then its layer is another one, too.
func (f Fetcher) referrers(ctx context.Context, image string, wasm []byte) (bundles [][]byte, digest [sha256.Size]byte, err error) {
	ref, err := name.ParseReference(image, name.StrictValidation)
	if err != nil {
		return nil, digest, errReference
	}
	options := f.options(ctx, maxBundle, maxRequests+2*maxReferrers)
	puller, err := remote.NewPuller(options...)
	if err != nil {
		return nil, digest, err
	}
	manifest, err := puller.Get(ctx, ref)
	if err != nil {
		return nil, digest, explainPull(err, stageManifest)
	}
	layer, err := wasmLayer(manifest)
	if err != nil {
		return nil, digest, err
	}
	if layer.Digest.Hex != fmt.Sprintf("%x", sha256.Sum256(wasm)) {
		return nil, digest, errors.New("the image has changed since the guest was fetched")
	}
	if _, err := hex.Decode(digest[:], []byte(manifest.Digest.Hex)); err != nil || len(manifest.Digest.Hex) != hex.EncodedLen(len(digest)) {
		return nil, digest, errors.New("the digest of the image is no SHA-256")
	}
	bundles, err = bundlesOf(ctx, ref.Context().Digest(manifest.Digest.String()), puller, options)
	return bundles, digest, explainPull(err, "the registry's answer is not a list of signatures, or not one of them")
}

// bundlesOf reads the bundles about an image. Which referrer is a bundle, its manifest says: cosign
// 3.0 writes another type into the list of a registry without the API for referrers.
func bundlesOf(ctx context.Context, image name.Digest, puller *remote.Puller, options []remote.Option) (bundles [][]byte, err error) {
	index, err := remote.Referrers(image, options...)
	if err != nil {
		return nil, err
	}
	list, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	for _, one := range list.Manifests[:min(len(list.Manifests), maxReferrers)] {
		bundle, err := bundleOf(ctx, puller, image.Context().Digest(one.Digest.String()))
		if err != nil {
			return nil, err
		}
		if bundle != nil {
			bundles = append(bundles, bundle)
		}
	}
	return bundles, nil
}

// bundleOf is nil if a referrer is something else.
func bundleOf(ctx context.Context, puller *remote.Puller, referrer name.Digest) ([]byte, error) {
	described, err := puller.Get(ctx, referrer)
	if err != nil || described.MediaType.IsIndex() {
		return nil, err
	}
	manifest, err := parseManifest(described)
	if err != nil || len(manifest.Layers) != 1 || manifest.Layers[0].MediaType != bundleType {
		return nil, err
	}
	return readLayer(ctx, puller, referrer.Context().Digest(manifest.Layers[0].Digest.String()))
}
