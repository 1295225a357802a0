package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// writeArchive writes an image layout in a tar, which skopeo, podman and
// containerd read, with the list of contents that docker load wants.
func writeArchive(out string, images []v1.Image, ref name.Tag) error {
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	index, err := indexOf(images, ref)
	if err != nil {
		return err
	}
	if _, err := layout.Write(dir, index); err != nil {
		return err
	}
	if err := writeDockerManifest(filepath.Join(dir, "manifest.json"), images[0], ref); err != nil {
		return err
	}
	files, err := read(dir)
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := writeTar(&archive, files); err != nil {
		return err
	}
	if err := os.WriteFile(out+".new", archive.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(out+".new", out) // so that what is there is always whole
}

// indexOf names the image for those who go by the tag (skopeo, podman) and those
// who go by the full name (containerd). Images for several architectures are one.
func indexOf(images []v1.Image, ref name.Tag) (v1.ImageIndex, error) {
	var named mutate.Appendable = images[0]
	if len(images) > 1 {
		all := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
		for _, img := range images {
			config, err := img.ConfigFile()
			if err != nil {
				return nil, err
			}
			all = mutate.AppendManifests(all, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: config.Platform()}})
		}
		named = all
	}
	return mutate.AppendManifests(empty.Index, mutate.IndexAddendum{
		Add: named,
		Descriptor: v1.Descriptor{Annotations: map[string]string{
			"org.opencontainers.image.ref.name": ref.TagStr(),
			"io.containerd.image.name":          ref.Name(),
		}},
	}), nil
}

// writeDockerManifest is for docker load, which takes one architecture: the first.
func writeDockerManifest(file string, img v1.Image, ref name.Tag) error {
	manifest, err := img.Manifest()
	if err != nil {
		return err
	}
	var layers []string
	for _, l := range manifest.Layers {
		layers = append(layers, blob(l.Digest))
	}
	data, err := json.Marshal([]map[string]any{{
		"Config":   blob(manifest.Config.Digest),
		"RepoTags": []string{ref.Name()},
		"Layers":   layers,
	}})
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

func blob(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }

// read returns what is in a folder, without its times and rights.
func read(dir string) (fstest.MapFS, error) {
	from, files := os.DirFS(dir), fstest.MapFS{}
	err := fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, path)
		files[path] = file(0o644, data)
		return err
	})
	return files, err
}
