package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"io"
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

// entry is a file or, with a name that ends in a slash, a folder. Root owns all.
type entry struct {
	name string
	mode int64
	data []byte
}

// baseEntries are the same in every image.
func baseEntries() []entry {
	return []entry{
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, data: []byte("root:x:0:\nnonroot:x:" + user + ":\n")},
		{name: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0:root:/:/nologin\nnonroot:x:" + user + ":" + user + ":nonroot:/tmp:/nologin\n")},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: authorities()},
		{name: "tmp/", mode: 0o1777},
	}
}

// authorities is Mozilla's list. Those that it trusts within limits only are left
// out: a file of certificates cannot tell the limits.
func authorities() []byte {
	var list []byte
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			list = append(list, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
		}
	}
	return list
}

// layer holds entries, compressed, in the order given.
func layer(entries ...entry) (v1.Layer, error) {
	var buf bytes.Buffer
	if err := writeTar(&buf, entries); err != nil {
		return nil, err
	}
	opener := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(buf.Bytes())), nil }
	return tarball.LayerFromOpener(opener, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.DefaultCompression), tarball.WithCompressedCaching)
}

func writeTar(w io.Writer, entries []entry) error {
	t := tar.NewWriter(w)
	for _, e := range entries {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: epoch, Format: tar.FormatUSTAR}
		if e.name[len(e.name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.data); err != nil {
			return err
		}
	}
	return t.Close()
}
