package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

const imageName = "registry.example/project/tiny:v1"

// tiny is a small program for Linux.
func tiny(t *testing.T, arch string) (binary string) {
	t.Helper()
	return compile(t, arch, tinySource(t), filepath.Join(t.TempDir(), "tiny"))
}

func tinySource(t *testing.T) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "tiny.go")
	must(t, os.WriteFile(source, []byte("package main\n\nfunc main() { println(\"hello\") }\n"), 0o600))
	return source
}

// compile builds a program for Linux.
func compile(t *testing.T, arch, source, binary string, env ...string) string {
	t.Helper()
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", binary, source)
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// archive packs binaries.
func archive(t *testing.T, binaries ...string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "tiny.tar")
	must(t, pack(binaries, imageName, "0123456789ab", file))
	return file
}

// unpacked is the index in an archive, with its entry for the image.
func unpacked(t *testing.T, archive string) (v1.ImageIndex, v1.Descriptor) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range filesOf(t, archive) {
		path := filepath.Join(dir, name)
		must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)))
	}
	index, err := layout.ImageIndexFromPath(dir)
	must(t, err)
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("%v, %v", manifest, err)
	}
	return index, manifest.Manifests[0]
}

// content is what the one image of an archive holds, and its configuration.
func content(t *testing.T, archive string, visit func(*tar.Header, []byte)) v1.Config {
	t.Helper()
	index, named := unpacked(t, archive)
	all, err := index.ImageIndex(named.Digest)
	must(t, err)
	manifest, err := all.IndexManifest()
	must(t, err)
	img, err := all.Image(manifest.Manifests[0].Digest)
	must(t, err)
	config, err := img.ConfigFile()
	must(t, err)
	files := mutate.Extract(img)
	defer files.Close()
	eachEntry(t, files, visit)
	return config.Config
}

func filesOf(t *testing.T, archive string) map[string][]byte {
	t.Helper()
	f, err := os.Open(archive)
	must(t, err)
	defer f.Close()
	files := map[string][]byte{}
	eachEntry(t, f, func(h *tar.Header, data []byte) {
		if h.Typeflag == tar.TypeReg {
			files[h.Name] = data
		}
	})
	return files
}

func eachEntry(t *testing.T, r io.Reader, visit func(*tar.Header, []byte)) {
	t.Helper()
	archive := tar.NewReader(r)
	for {
		h, err := archive.Next()
		if err == io.EOF {
			return
		}
		must(t, err)
		data, err := io.ReadAll(archive)
		must(t, err)
		visit(h, data)
	}
}

// The second binary is a copy made later, with other rights, in another folder.
func TestSameBinaryGivesTheSameBytes(t *testing.T) {
	binary := tiny(t, "amd64")
	data, err := os.ReadFile(binary)
	must(t, err)
	moved := filepath.Join(t.TempDir(), "tiny")
	must(t, os.WriteFile(moved, data, 0o700))
	must(t, os.Chtimes(moved, time.Unix(1e9, 0), time.Unix(1e9, 0)))
	a, err := os.ReadFile(archive(t, binary))
	must(t, err)
	b, err := os.ReadFile(archive(t, moved))
	must(t, err)
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Errorf("two archives, of %d and %d bytes, differ", len(a), len(b))
	}
}

func TestImagesForTwoArchitecturesAreOneThatSaysHowToRunIt(t *testing.T) {
	index, named := unpacked(t, archive(t, tiny(t, "amd64"), tiny(t, "arm64")))
	if named.Annotations["org.opencontainers.image.ref.name"] != "v1" {
		t.Errorf("%+v", named)
	}
	both, err := index.ImageIndex(named.Digest)
	must(t, err)
	must(t, validate.Index(both))
	manifest, err := both.IndexManifest()
	must(t, err)
	for i, platform := range []string{"linux/amd64", "linux/arm64"} {
		img, err := both.Image(manifest.Manifests[i].Digest)
		must(t, err)
		config, err := img.ConfigFile()
		must(t, err)
		if config.Platform().String() != platform || manifest.Manifests[i].Platform.String() != platform {
			t.Errorf("for %s and %s, want %s", config.Platform(), manifest.Manifests[i].Platform, platform)
		}
		if config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/tiny"}) || len(config.Config.Cmd) > 0 {
			t.Errorf("%s runs %q %q as %q", platform, config.Config.Entrypoint, config.Config.Cmd, config.Config.User)
		}
	}
}

// TestImageHasLicensesAndLabels packs this command, which has modules of others.
func TestImageHasLicensesAndLabels(t *testing.T) {
	texts := map[string]string{}
	binary := compile(t, "amd64", ".", filepath.Join(t.TempDir(), "image"))
	got := content(t, archive(t, binary), func(h *tar.Header, data []byte) { texts[h.Name] = string(data) }).Labels
	want := map[string]string{
		"org.opencontainers.image.title": "image", "org.opencontainers.image.version": "v1",
		"org.opencontainers.image.revision": "0123456789ab", "org.opencontainers.image.licenses": "Apache-2.0",
	}
	if !maps.Equal(got, want) {
		t.Errorf("the labels are %v", got)
	}
	for name, says := range map[string]string{
		"licenses/regex-scheduling/LICENSE": "Apache License", "licenses/go/LICENSE": "Redistribution and use in source and binary forms",
		"licenses/github.com/google/go-containerregistry/LICENSE": "Apache License", "licenses/github.com/opencontainers/go-digest/LICENSE": "Apache License",
	} {
		if !strings.Contains(texts[name], says) {
			t.Errorf("%s says %.80q", name, texts[name])
		}
	}
}

// A program does not name what is in a guest that it embeds.
func TestImageHasLicensesOfGuests(t *testing.T) {
	source := filepath.Join(t.TempDir(), "tiny.go")
	guest, err := os.ReadFile("../../static/regex_v2.wasm")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(filepath.Dir(source), "guest.wasm"), guest, 0o600))
	must(t, os.WriteFile(source, []byte("package main\n\nimport _ \"embed\"\n\n//go:embed guest.wasm\nvar guest string\n\nfunc main() { println(guest) }\n"), 0o600))
	texts := map[string]string{}
	content(t, archive(t, compile(t, "amd64", source, filepath.Join(t.TempDir(), "tiny"))), func(h *tar.Header, data []byte) { texts[h.Name] = string(data) })
	for name, says := range map[string]string{
		"licenses/github.com/tinygo-org/tinygo/LICENSE": "The TinyGo Authors", "licenses/github.com/wasilibs/nottinygc/LICENSE": "wasilibs authors",
		"licenses/bdwgc/LICENSE": "Hans-J. Boehm", "licenses/wasi-libc/LICENSE": "musl",
	} {
		if !strings.Contains(texts[name], says) {
			t.Errorf("%s says %.80q", name, texts[name])
		}
	}
}

// TestImageHoldsNothingElse is the proof that there is no shell.
func TestImageHoldsNothingElse(t *testing.T) {
	var got []string
	binary := tiny(t, "amd64")
	program, err := os.ReadFile(binary)
	must(t, err)
	content(t, archive(t, binary), func(h *tar.Header, data []byte) {
		got = append(got, h.FileInfo().Mode().String()+" "+strings.TrimSuffix(h.Name, "/"))
		if h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(epoch) {
			t.Errorf("%s: owner %d:%d, time %s", h.Name, h.Uid, h.Gid, h.ModTime)
		}
		if h.Name == "tiny" && !bytes.Equal(data, program) {
			t.Errorf("%s is not the binary", h.Name)
		}
		if strings.HasSuffix(h.Name, ".crt") && bytes.Count(data, []byte("BEGIN CERTIFICATE")) < 100 {
			t.Errorf("authorities: %.200s", data)
		}
	})
	want := []string{
		"drwxr-xr-x etc",
		"drwxr-xr-x etc/ssl",
		"drwxr-xr-x etc/ssl/certs",
		"-rw-r--r-- etc/ssl/certs/ca-certificates.crt",
		"drwxr-xr-x licenses",
		"drwxr-xr-x licenses/ca-certificates",
		"-rw-r--r-- licenses/ca-certificates/LICENSE",
		"drwxr-xr-x licenses/go",
		"-rw-r--r-- licenses/go/LICENSE",
		"drwxr-xr-x licenses/regex-scheduling",
		"-rw-r--r-- licenses/regex-scheduling/LICENSE",
		"-rwxr-xr-x tiny",
		"dtrwxrwxrwx tmp",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestArchiveNamesTheImageForEveryReader(t *testing.T) {
	file := archive(t, tiny(t, "amd64"))
	_, entry := unpacked(t, file)
	want := map[string]string{
		"org.opencontainers.image.ref.name": "v1",      // skopeo, podman
		"io.containerd.image.name":          imageName, // ctr
	}
	if !maps.Equal(entry.Annotations, want) {
		t.Errorf("annotations %v", entry.Annotations)
	}
	tag, err := name.NewTag(imageName)
	must(t, err)
	img, err := tarball.ImageFromPath(file, &tag) // reads as docker load does
	must(t, err)
	must(t, validate.Image(img))
}

func TestDockerLoadHasATagForEachArchitecture(t *testing.T) {
	file := archive(t, tiny(t, "amd64"), tiny(t, "arm64"))
	for suffix, want := range map[string]string{"": "amd64", "-amd64": "amd64", "-arm64": "arm64"} {
		tag, err := name.NewTag(imageName + suffix)
		must(t, err)
		img, err := tarball.ImageFromPath(file, &tag)
		must(t, err)
		must(t, validate.Image(img))
		config, err := img.ConfigFile()
		must(t, err)
		if config.Architecture != want {
			t.Errorf("%s is for %s", tag, config.Architecture)
		}
	}
}

func TestImageOfWhatCannotRunIsRefused(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	must(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700))
	for name, test := range map[string]struct{ image, binary, want string }{
		"a script":                 {imageName, script, "not a program in Go"},
		"a binary that is not":     {imageName, script + ".none", "no such file"},
		"a program with cgo":       {imageName, compile(t, "amd64", tinySource(t), filepath.Join(t.TempDir(), "tiny"), "CGO_ENABLED=1"), "CGO_ENABLED=0"},
		"a name without a tag":     {"registry.example/tiny", tiny(t, "amd64"), "name of the image"},
		"a name that is not valid": {"Registry/Tiny:1", tiny(t, "amd64"), "name of the image"},
	} {
		out := filepath.Join(t.TempDir(), "out.tar")
		err := pack([]string{test.binary}, test.image, "", out)
		_, missing := os.Stat(out)
		if err == nil || !strings.Contains(err.Error(), test.want) || missing == nil {
			t.Errorf("%s: %v, want %s; archive: %v", name, err, test.want, missing)
		}
	}
}
