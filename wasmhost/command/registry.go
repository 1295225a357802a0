package command

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// The media types of the CNCF's layout for Wasm:
// https://tag-runtime.cncf.io/wgs/wasm/deliverables/wasm-oci-artifact/.
const (
	configType = "application/vnd.wasm.config.v0+json"
	layerType  = "application/wasm"
)

func newPush() *cobra.Command {
	var source, version string
	cmd := &cobra.Command{
		Use:   "push FILE REGISTRY/NAME:TAG",
		Short: "Puts a guest into a registry, in the CNCF's layout for Wasm; prints the URL that a configuration names it by",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, given []string) error {
			ref, err := name.NewTag(given[1], name.StrictValidation)
			if err != nil {
				return fmt.Errorf("%s: must be REGISTRY/NAME:TAG: %w", given[1], err)
			}
			wasm, err := new(wasmhost.Host).Fetch(cmd.Context(), wasmhost.Args{GuestURL: urlOf(given[0])})
			if err != nil {
				return err
			}
			annotations := map[string]string{}
			for key, value := range map[string]string{"source": source, "version": version} {
				if value != "" {
					annotations["org.opencontainers.image."+key] = value
				}
			}
			digest, err := push(cmd.Context(), ref, wasm, annotations)
			if err != nil {
				return fmt.Errorf("%s: %w", ref, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "oci://%s\n", ref.Context().Digest(digest.String()))
			return nil
		},
	}
	cmd.Flags().StringVar(&source, "source", "", "URL of the source, for org.opencontainers.image.source")
	cmd.Flags().StringVar(&version, "version", "", "version of the guest, for org.opencontainers.image.version")
	return cmd
}

// manifest is one as remote takes it.
type manifest []byte

func (m manifest) RawManifest() ([]byte, error) { return m, nil }

func (manifest) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// push stores a guest as a layer, a configuration, and the manifest of the two.
func push(ctx context.Context, ref name.Tag, wasm []byte, annotations map[string]string) (digest v1.Hash, err error) {
	layer := static.NewLayer(wasm, layerType)
	guest, err := partial.Descriptor(layer)
	if err != nil {
		return digest, err
	}
	rawConfig, err := json.Marshal(map[string]any{"architecture": "wasm", "os": "wasip1", "layerDigests": []v1.Hash{guest.Digest}})
	if err != nil {
		return digest, err
	}
	config := static.NewLayer(rawConfig, configType)
	described, err := partial.Descriptor(config)
	if err != nil {
		return digest, err
	}
	raw, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: *described, Layers: []v1.Descriptor{*guest}, Annotations: annotations,
	})
	if err != nil {
		return digest, err
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	for _, blob := range []v1.Layer{layer, config} {
		if err := remote.WriteLayer(ref.Context(), blob, options...); err != nil {
			return digest, err
		}
	}
	digest, _, err = v1.SHA256(bytes.NewReader(raw))
	return digest, errors.Join(err, remote.Put(ref, manifest(raw), options...))
}

func newPull() *cobra.Command {
	var keys []string
	cmd := &cobra.Command{
		Use:   "pull URL FILE",
		Short: "Writes a guest into a file, from a registry (oci://…) or a web server, as the scheduler would fetch it",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, given []string) error {
			args := wasmhost.Args{GuestURL: urlOf(given[0])}
			if len(keys) > 0 {
				args.Verify = &wasmhost.Verify{Keys: keys}
			}
			wasm, err := new(wasmhost.Host).Fetch(cmd.Context(), args)
			if err != nil {
				return err
			}
			if err := os.WriteFile(given[1], wasm, 0o644); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d bytes, sha256 %x\n", len(wasm), sha256.Sum256(wasm))
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&keys, "key", nil, "public key by cosign, a file; the guest must be signed with one of them")
	return cmd
}
