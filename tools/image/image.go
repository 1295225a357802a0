package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing/fstest"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"

	"wasmkwokwizardry.io/regex-scheduling/tools/internal/parts"
)

// user is the user of the binary: the "nonroot" of other images without a base.
const user = "65532:65532"

// epoch is the time of everything in an image.
var epoch = time.Unix(0, 0).UTC()

// build makes the image of a binary, which is its entrypoint under its own name.
func build(binary string, labels map[string]string) (v1.Image, error) {
	program, err := parts.Read(binary)
	if err != nil {
		return nil, err
	}
	setting := func(key string) string {
		i := slices.IndexFunc(program.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
		return program.Settings[max(i, 0)].Value
	}
	if setting("GOOS") != "linux" || setting("CGO_ENABLED") != "0" {
		return nil, errors.New("the image has no libraries; build the program with GOOS=linux CGO_ENABLED=0")
	}
	list, err := parts.Authorities()
	if err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	addLicenses(files, append(program.Parts, list)...)
	name := filepath.Base(binary)
	files[name] = file(0o755, program.Content)
	files["etc/ssl/certs/ca-certificates.crt"] = file(0o644, authorities())
	files["tmp"] = file(0o777|fs.ModeDir|fs.ModeSticky, nil)
	layer, err := layerOf(files)
	if err != nil {
		return nil, err
	}
	labels = maps.Clone(labels)
	labels["org.opencontainers.image.title"] = name
	labels["org.opencontainers.image.licenses"] = "Apache-2.0" // ours; /licenses has all of them
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.ConfigFile(img, &v1.ConfigFile{
		Architecture: setting("GOARCH"),
		OS:           "linux",
		Created:      v1.Time{Time: epoch},
		RootFS:       v1.RootFS{Type: "layers"},
		Config:       v1.Config{User: user, Entrypoint: []string{"/" + name}, WorkingDir: "/", Env: []string{"PATH=/", "HOME=/tmp"}, Labels: labels},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(img, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "tools/image"}})
}

func file(mode fs.FileMode, data []byte) *fstest.MapFile {
	return &fstest.MapFile{Data: data, Mode: mode, ModTime: epoch}
}

// authorities is Mozilla's list. It excludes the authorities that Mozilla trusts within
// limits only: a file of certificates cannot tell the limits.
func authorities() []byte {
	var list []byte
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			list = append(list, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
		}
	}
	return list
}

func layerOf(files fstest.MapFS) (v1.Layer, error) {
	for name := range maps.Clone(files) {
		for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) { // else they are 0555, which not everybody can unpack into
			files[folder] = file(0o755|fs.ModeDir, nil)
		}
	}
	packed, err := tarOf(files)
	if err != nil {
		return nil, err
	}
	opener := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil }
	return tarball.LayerFromOpener(opener, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.DefaultCompression), tarball.WithCompressedCaching)
}

// tarOf packs files in the order of their names.
func tarOf(files fstest.MapFS) ([]byte, error) {
	var packed bytes.Buffer
	t := tar.NewWriter(&packed)
	err := errors.Join(t.AddFS(files), t.Close())
	return packed.Bytes(), err
}

// addLicenses adds those of a part, and of what that is made of, as licenses/NAME/FILE.
func addLicenses(files fstest.MapFS, all ...parts.Part) {
	for _, part := range all {
		for name, text := range part.Licenses {
			files[path.Join("licenses", part.Name, name)] = file(0o644, text)
		}
		addLicenses(files, part.Parts...)
	}
}
