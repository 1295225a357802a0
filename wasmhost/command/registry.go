package command

import (
	"crypto/sha256"
	"encoding/json"
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
			image, err := artifactOf(wasm, annotations)
			if err != nil {
				return err
			}
			if err := remote.Write(ref, image, remote.WithContext(cmd.Context()), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
				return fmt.Errorf("%s: %w", ref, err)
			}
			digest, err := image.Digest()
			fmt.Fprintf(cmd.OutOrStdout(), "oci://%s\n", ref.Context().Digest(digest.String()))
			return err
		},
	}
	cmd.Flags().StringVar(&source, "source", "", "URL of the source, for org.opencontainers.image.source")
	cmd.Flags().StringVar(&version, "version", "", "version of the guest, for org.opencontainers.image.version")
	return cmd
}

// artifact is an image that is a guest: a manifest, a configuration and one layer.
type artifact struct {
	manifest, config []byte
	layer            v1.Layer
}

func artifactOf(wasm []byte, annotations map[string]string) (v1.Image, error) {
	a := &artifact{layer: static.NewLayer(wasm, layerType)}
	layer, err := partial.Descriptor(a.layer)
	if err != nil {
		return nil, err
	}
	if a.config, err = json.Marshal(map[string]any{
		"architecture": "wasm", "os": "wasip1", "layerDigests": []v1.Hash{layer.Digest},
	}); err != nil {
		return nil, err
	}
	config, err := partial.Descriptor(static.NewLayer(a.config, configType))
	if err != nil {
		return nil, err
	}
	a.manifest, err = json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1,
		Config: *config, Layers: []v1.Descriptor{*layer}, Annotations: annotations,
	})
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(a)
}

// The methods of partial.CompressedImageCore.

func (a *artifact) RawConfigFile() ([]byte, error)      { return a.config, nil }
func (a *artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
func (a *artifact) RawManifest() ([]byte, error)        { return a.manifest, nil }
func (a *artifact) LayerByDigest(v1.Hash) (partial.CompressedLayer, error) {
	return a.layer, nil // there is one
}

func newPull() *cobra.Command {
	return &cobra.Command{
		Use:   "pull URL FILE",
		Short: "Writes a guest into a file, from a registry (oci://…) or a web server, as the scheduler would fetch it",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, given []string) error {
			wasm, err := new(wasmhost.Host).Fetch(cmd.Context(), wasmhost.Args{GuestURL: urlOf(given[0])})
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
}
