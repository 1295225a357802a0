package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"wasmkwokwizardry.io/regex-scheduling/fetch/internal/signature"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// The limits of what is read to find a signature.
const (
	maxBundle    = 1 << 20 // bytes
	maxReferrers = 1000
)

// bundleType is the type of the one layer of a signature by cosign in a registry
// (https://github.com/sigstore/cosign/blob/main/specs/BUNDLE_SPEC.md).
const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// noType is of a manifest that does not say what it is.
const noType = "application/vnd.oci.empty.v1+json"

// suffix is of the file with the signature, beside that of the guest.
const suffix = ".sigstore.json"

// Verify is for [wasmhost.Options]. It returns nil if the guest at GuestURL of args, which has this SHA-256, is signed as Verify of
// args asks for. Beside a file the signature is of the guest's bytes; in a registry it is of the manifest, which has the guest's digest.
// Where none is right, the error is the one of the first.
func (f Fetcher) Verify(ctx context.Context, args wasmhost.Args, guest [sha256.Size]byte) error {
	keys, err := signature.ReadKeys(args.Verify.Keys)
	if err != nil {
		return err
	}
	err = f.signed(ctx, parse(args.GuestURL), guest, func(bundle []byte, digest sum) error { return signature.Verify(bundle, digest, keys) })
	if err != nil {
		return fmt.Errorf("%w; keys that may sign: %s", err, signature.Names(keys))
	}
	return nil
}

// signed looks for a signature, until verify returns nil for a bundle and the digest that it must sign.
func (f Fetcher) signed(ctx context.Context, from source, guest sum, verify verifier) error {
	ctx, cancel := f.timeout(ctx)
	defer cancel()
	if from.scheme == "oci" {
		return f.signedInRegistry(ctx, from.rest, guest, verify)
	}
	var bundle []byte
	var err error
	signature := from.with(suffix)
	if from.scheme == "file" {
		bundle, err = readInTime(ctx, signature.rest, maxBundle)
	} else {
		bundle, _, err = f.download(ctx, signature, maxBundle, "")
	}
	if errors.Is(err, errOverLimit) {
		err = errBundle
	}
	if err != nil {
		return fmt.Errorf("its signature, %s: %w", signature, err)
	}
	return verify(bundle, guest)
}

// sum is a SHA-256.
type sum = [sha256.Size]byte

// verifier returns nil for a bundle with a signature of the digest.
type verifier func(bundle []byte, digest sum) error

var errBundle = failure{text: fmt.Sprintf("a signature has more than %d bytes", maxBundle)}

// with is the source with a longer path.
func (s source) with(suffix string) source {
	if s.scheme == "file" || s.url == nil {
		return parse(s.scheme + "://" + s.rest + suffix)
	}
	longer := *s.url
	longer.Path += suffix
	if longer.RawPath != "" {
		longer.RawPath += suffix
	}
	return parse(longer.String())
}

// signedInRegistry reads the signatures of an image by OCI's referrers. The name may lead to another
// image than when the guest was fetched: then its layer is another one, too.
func (f Fetcher) signedInRegistry(ctx context.Context, image string, guest sum, verify verifier) error {
	c, err := f.client(ctx, image, maxRequests+2*maxReferrers)
	if err != nil {
		return err
	}
	layer, manifest, err := c.guest(ctx)
	if err != nil {
		return err
	}
	if layer.Digest.Hex != hex.EncodeToString(guest[:]) {
		return errors.New("the image has changed since the guest was fetched")
	}
	digest, err := hex.DecodeString(manifest.Hex)
	if err != nil || len(digest) != sha256.Size {
		return errors.New("the digest of the image is no SHA-256")
	}
	return c.signed(ctx, manifest, func(bundle []byte) error { return verify(bundle, sum(digest)) })
}

// stageSignatures is the stage of all that is read to find a signature in a registry.
const stageSignatures = "the registry's answer is not a list of signatures, or not one of them"

// signed reads one bundle about an image after another, until one is right. A user who may write to the
// repository can add others in front of it: a bundle that cannot be read hides no other one, and only the
// time and maxReferrers end the search. The list has the type of each referrer: those of other types are not
// fetched. But cosign 3.0 writes noType into the list of a registry without the API for referrers; only the
// manifest says of these, which come last, whether they are bundles.
func (c *client) signed(ctx context.Context, manifest v1.Hash, verify func([]byte) error) error {
	index, err := remote.Referrers(c.at(manifest), c.options...)
	if err != nil {
		return explainPull(err, stageSignatures)
	}
	list, err := index.IndexManifest()
	if err != nil {
		return explainPull(err, stageSignatures)
	}
	var candidates []v1.Descriptor
	for _, artifactType := range []string{bundleType, noType, ""} {
		for _, one := range list.Manifests {
			if one.ArtifactType == artifactType {
				candidates = append(candidates, one)
			}
		}
	}
	var first error
	for _, one := range candidates[:min(len(candidates), maxReferrers)] {
		bundle, err := c.bundle(ctx, one.Digest)
		if ctx.Err() != nil {
			return fmt.Errorf("no signature was found in time: %w", ctx.Err())
		}
		if err == nil && bundle == nil {
			continue
		}
		if err != nil {
			err = explainPull(err, stageSignatures)
		} else if err = verify(bundle); err == nil {
			return nil
		}
		first = cmp.Or(first, err)
	}
	return cmp.Or(first, errors.New("it has no signature"))
}

// bundle is nil if a referrer is something else.
func (c *client) bundle(ctx context.Context, referrer v1.Hash) ([]byte, error) {
	described, err := c.puller.Get(ctx, c.at(referrer))
	if err != nil || described.MediaType.IsIndex() {
		return nil, err
	}
	manifest, err := parseManifest(described)
	if err != nil || len(manifest.Layers) != 1 || manifest.Layers[0].MediaType != bundleType {
		return nil, err
	}
	return c.layer(ctx, manifest.Layers[0].Digest, maxBundle, errBundle)
}
