package main

import (
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing/fstest"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
	modulepath "golang.org/x/mod/module"
)

// user is the user of the binary: the "nonroot" of other images without a base.
const user = "65532"

// epoch is the time of everything in an image.
var epoch = time.Unix(0, 0).UTC()

// build makes the image of a binary, which is its entrypoint under its own name.
func build(binary string, labels map[string]string) (v1.Image, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("not a program in Go: %w", err)
	}
	arch, err := architectureOf(info)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	files, err := licenses(info)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(binary)
	files[name] = file(0o755, data)
	below, err := layer(base(), "certificates, a user and /tmp")
	if err != nil {
		return nil, err
	}
	top, err := layer(files, "the binary and licenses")
	if err != nil {
		return nil, err
	}
	labels = maps.Clone(labels)
	labels["org.opencontainers.image.title"] = name
	labels["org.opencontainers.image.licenses"] = "Apache-2.0" // ours; /licenses has all of them
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.ConfigFile(img, &v1.ConfigFile{
		Architecture: arch,
		OS:           "linux",
		Created:      v1.Time{Time: epoch},
		RootFS:       v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: user + ":" + user, Entrypoint: []string{"/" + name}, WorkingDir: "/", Env: []string{"PATH=/"}, Labels: labels,
		},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(img, below, top)
}

// architectureOf returns what a program is for, if it runs without any other file.
func architectureOf(info *debug.BuildInfo) (string, error) {
	built := map[string]string{}
	for _, setting := range info.Settings {
		built[setting.Key] = setting.Value
	}
	switch {
	case built["GOOS"] != "linux":
		return "", errors.New("not for Linux; build it with GOOS=linux")
	case built["CGO_ENABLED"] != "0":
		return "", errors.New("it may be dynamically linked, but the image has no libraries; build it with CGO_ENABLED=0")
	}
	return built["GOARCH"], nil
}

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

func layer(files fstest.MapFS, comment string) (mutate.Addendum, error) {
	var packed bytes.Buffer
	if err := writeTar(&packed, files); err != nil {
		return mutate.Addendum{}, err
	}
	opener := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil }
	compressed, err := tarball.LayerFromOpener(opener, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.DefaultCompression), tarball.WithCompressedCaching)
	history := v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "tools/image", Comment: comment}
	return mutate.Addendum{Layer: compressed, History: history}, err
}

// licenses are the licenses and notices of a program: ours, Go's, and those of its modules,
// from where go build had them.
func licenses(info *debug.BuildInfo) (fstest.MapFS, error) {
	out, err := exec.Command("go", "env", "GOMOD", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	env := strings.Split(string(out), "\n")
	folders := map[string]string{
		"licenses/regex-scheduling": filepath.Join(filepath.Dir(env[0]), ".."),
		"licenses/go":               env[1],
	}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		if module.Sum != "" { // or it is a folder of ours
			escaped, err := modulepath.EscapePath(module.Path)
			if err != nil {
				return nil, err
			}
			folders["licenses/"+module.Path] = filepath.Join(env[2], escaped+"@"+module.Version)
		}
	}
	files := fstest.MapFS{}
	for name, folder := range folders {
		for _, pattern := range []string{"LICEN[CS]E*", "COPYING*", "NOTICE*"} {
			found, err := filepath.Glob(filepath.Join(folder, pattern))
			if err != nil {
				return nil, err
			}
			for _, text := range found {
				content, err := os.ReadFile(text)
				if err == nil { // a folder of that name is none
					files[name+"/"+filepath.Base(text)] = file(0o644, content)
				}
			}
		}
		for ; name != "."; name = path.Dir(name) { // else they are 0555, which not everybody can unpack into
			files[name] = dir(0o755)
		}
	}
	return files, nil
}
