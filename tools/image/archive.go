package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
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
	list, err := dockerManifest(images, ref)
	if err != nil {
		return err
	}
	files := fstest.MapFS{"manifest.json": file(0o644, list)}
	from := os.DirFS(dir)
	err = fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, path)
		files[path] = file(0o644, data) // without its time and rights
		return err
	})
	if err != nil {
		return err
	}
	archive, err := tarOf(files)
	if err != nil {
		return err
	}
	return os.WriteFile(out, archive, 0o644)
}

// indexOf names the image by its tag (skopeo, podman) and by its full name (containerd).
// It is one of images for each architecture.
func indexOf(images []v1.Image, ref name.Tag) (v1.ImageIndex, error) {
	all := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, img := range images {
		config, err := img.ConfigFile()
		if err != nil {
			return nil, err
		}
		all = mutate.AppendManifests(all, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: config.Platform()}})
	}
	annotations := map[string]string{"org.opencontainers.image.ref.name": ref.TagStr(), "io.containerd.image.name": ref.Name()}
	return mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: all, Descriptor: v1.Descriptor{Annotations: annotations}}), nil
}

// dockerManifest is for docker load without the image store of containerd, where a tag has one
// architecture: the tag has the first of them, and of several each has one that ends with its name.
func dockerManifest(images []v1.Image, ref name.Tag) ([]byte, error) {
	blob := func(of v1.Descriptor) string { return path.Join("blobs", of.Digest.Algorithm, of.Digest.Hex) }
	var list []map[string]any
	for i, img := range images {
		manifest, err := img.Manifest()
		if err != nil {
			return nil, err
		}
		config, err := img.ConfigFile()
		if err != nil {
			return nil, err
		}
		var tags, layers []string
		if i == 0 {
			tags = append(tags, ref.Name())
		}
		if len(images) > 1 {
			tags = append(tags, ref.Name()+"-"+config.Architecture)
		}
		for _, l := range manifest.Layers {
			layers = append(layers, blob(l))
		}
		list = append(list, map[string]any{"Config": blob(manifest.Config), "RepoTags": tags, "Layers": layers})
	}
	return json.Marshal(list)
}
