package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"testing/fstest"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is who the binary runs as: the "nonroot" of other images without a base.
const user = "65532"

// epoch is the time of everything in an image.
var epoch = time.Unix(0, 0).UTC()

// base is the same in every image. Root owns all.
func base() fstest.MapFS {
	return fstest.MapFS{
		"etc":                               dir(0o755),
		"etc/group":                         file(0o644, []byte("root:x:0:\nnonroot:x:"+user+":\n")),
		"etc/passwd":                        file(0o644, []byte("root:x:0:0:root:/:/nologin\nnonroot:x:"+user+":"+user+":nonroot:/tmp:/nologin\n")),
		"etc/ssl":                           dir(0o755),
		"etc/ssl/certs":                     dir(0o755),
		"etc/ssl/certs/ca-certificates.crt": file(0o644, authorities()),
		"tmp":                               dir(0o777 | fs.ModeSticky),
	}
}

func file(mode fs.FileMode, data []byte) *fstest.MapFile {
	return &fstest.MapFile{Data: data, Mode: mode, ModTime: epoch}
}

func dir(mode fs.FileMode) *fstest.MapFile { return file(mode|fs.ModeDir, nil) }

// authorities is Mozilla's list. Authorities that it trusts within limits only are
// excluded: a file of certificates cannot tell the limits.
func authorities() []byte {
	var list []byte
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			list = append(list, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
		}
	}
	return list
}

// layer holds files, compressed.
func layer(files fstest.MapFS) (v1.Layer, error) {
	var packed bytes.Buffer
	if err := writeTar(&packed, files); err != nil {
		return nil, err
	}
	opener := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil }
	return tarball.LayerFromOpener(opener, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.DefaultCompression), tarball.WithCompressedCaching)
}

// writeTar writes files in the order of their names.
func writeTar(w io.Writer, files fstest.MapFS) error {
	t := tar.NewWriter(w)
	return errors.Join(t.AddFS(files), t.Close())
}
