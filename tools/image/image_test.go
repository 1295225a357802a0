package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

const imageName = "registry.example/project/tiny:v1"

// programs is where the programs of all tests are.
var programs string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	var err error
	if programs, err = os.MkdirTemp("", "programs-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(programs)
	return m.Run()
}

// tiny is a small program for Linux, built once.
func tiny(t *testing.T, arch string) (binary string) {
	t.Helper()
	dir := filepath.Join(programs, arch)
	if _, err := os.Stat(dir); err == nil {
		return filepath.Join(dir, "tiny")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "tiny.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() { println(\"hello\") }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(dir, "tiny")
	compile(t, arch, source, binary)
	return binary
}

// compile builds a program for Linux.
func compile(t *testing.T, arch, source, binary string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", binary, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// archive runs the command.
func archive(t *testing.T, binaries ...string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "tiny.tar")
	var stdout, stderr bytes.Buffer
	code := run(append([]string{"--name", imageName, "--out", file}, binaries...), &stdout, &stderr)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	return file
}

// indexOfArchive is the index in an archive, with its entry for the image.
func indexOfArchive(t *testing.T, archive string) (v1.ImageIndex, v1.Descriptor) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range filesOf(t, archive) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("%v, %v", manifest, err)
	}
	return index, manifest.Manifests[0]
}

// unpacked is the image in an archive, with the index's entry for it.
func unpacked(t *testing.T, archive string) (v1.Image, v1.Descriptor) {
	t.Helper()
	index, entry := indexOfArchive(t, archive)
	img, err := index.Image(entry.Digest)
	if err != nil {
		t.Fatal(err)
	}
	return img, entry
}

func filesOf(t *testing.T, archive string) map[string][]byte {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		visit(h, data)
	}
}

func TestSameBinaryGivesTheSameBytes(t *testing.T) {
	binary := tiny(t, "amd64")
	first := archive(t, binary)

	// A copy made later, with other rights, in another folder.
	data, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(t.TempDir(), "tiny")
	if err := os.WriteFile(moved, data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(moved, time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	second := archive(t, moved)

	a, _ := os.ReadFile(first)
	b, _ := os.ReadFile(second)
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Errorf("two archives, of %d and %d bytes, differ", len(a), len(b))
	}
}

func TestImageIsValidAndSaysHowToRunIt(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		img, _ := unpacked(t, archive(t, tiny(t, arch)))
		if err := validate.Image(img); err != nil {
			t.Error(err)
		}
		config, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.OS != "linux" || config.Architecture != arch {
			t.Errorf("for %s/%s", config.OS, config.Architecture)
		}
		if config.Config.User != "65532:65532" {
			t.Errorf("runs as %q", config.Config.User)
		}
		if !slices.Equal(config.Config.Entrypoint, []string{"/tiny"}) || len(config.Config.Cmd) > 0 {
			t.Errorf("runs %q %q", config.Config.Entrypoint, config.Config.Cmd)
		}
	}
}

// TestImageHasLicensesAndLabels packs this command, which has modules of others.
func TestImageHasLicensesAndLabels(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "image")
	compile(t, "amd64", ".", binary)
	img, _ := unpacked(t, archive(t, "--revision=0123456789ab", binary))
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"org.opencontainers.image.title": "image", "org.opencontainers.image.version": "v1",
		"org.opencontainers.image.revision": "0123456789ab", "org.opencontainers.image.licenses": "Apache-2.0",
	}
	got := config.Config.Labels
	if !maps.Equal(got, want) {
		t.Errorf("the labels are %v", got)
	}
	content := mutate.Extract(img)
	defer content.Close()
	texts := map[string]string{}
	eachEntry(t, content, func(h *tar.Header, data []byte) { texts[h.Name] = string(data) })
	for name, says := range map[string]string{
		"licenses/regex-scheduling/LICENSE": "Apache License", "licenses/go/LICENSE": "Redistribution and use in source and binary forms",
		"licenses/github.com/google/go-containerregistry/LICENSE": "Apache License", "licenses/github.com/opencontainers/go-digest/LICENSE": "Apache License",
	} {
		if !strings.Contains(texts[name], says) {
			t.Errorf("%s says %.80q", name, texts[name])
		}
	}
}

// A module of ours that a folder replaces is no part of the module cache.
func TestLicensesAreNotThoseOfAFolder(t *testing.T) {
	files, err := licenses(&debug.BuildInfo{Deps: []*debug.Module{
		{Path: "example.com/ours", Version: "v0.1.0", Replace: &debug.Module{Path: "./ours", Version: "(devel)"}},
	}})
	if err != nil || files["licenses/go/LICENSE"] == nil {
		t.Errorf("%v, %d files", err, len(files))
	}
	for name := range files {
		if !fs.ValidPath(name) {
			t.Errorf("%s is no name of a file", name)
		}
	}
}

// TestImageHoldsNothingElse is the proof that there is no shell.
func TestImageHoldsNothingElse(t *testing.T) {
	binary := tiny(t, "amd64")
	img, _ := unpacked(t, archive(t, binary))
	var got []string
	content := mutate.Extract(img)
	defer content.Close()
	eachEntry(t, content, func(h *tar.Header, data []byte) {
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name)
		if h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(epoch) {
			t.Errorf("%s: owner %d:%d, time %s", h.Name, h.Uid, h.Gid, h.ModTime)
		}
		want, _ := os.ReadFile(binary)
		if h.Name == "tiny" && !bytes.Equal(data, want) {
			t.Errorf("%s is not the binary", h.Name)
		}
	})
	slices.SortFunc(got, func(a, b string) int { return strings.Compare(a[11:], b[11:]) })
	want := []string{
		"drwxr-xr-x etc",
		"-rw-r--r-- etc/group",
		"-rw-r--r-- etc/passwd",
		"drwxr-xr-x etc/ssl",
		"drwxr-xr-x etc/ssl/certs",
		"-rw-r--r-- etc/ssl/certs/ca-certificates.crt",
		"drwxr-xr-x licenses",
		"drwxr-xr-x licenses/go",
		"-rw-r--r-- licenses/go/LICENSE",
		"drwxr-xr-x licenses/regex-scheduling",
		"-rw-r--r-- licenses/regex-scheduling/LICENSE",
		"-rwxr-xr-x tiny",
		"dtrwxrwxrwx tmp",
	}
	for i := range got {
		got[i] = strings.TrimSuffix(got[i], "/")
	}
	if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAuthoritiesAreCertificates(t *testing.T) {
	var authorities int
	for name, file := range base() {
		if !strings.HasSuffix(name, ".crt") {
			continue
		}
		for block, rest := pem.Decode(file.Data); block != nil; block, rest = pem.Decode(rest) {
			cert, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				t.Error(err)
			} else if !cert.IsCA {
				t.Errorf("%s is not an authority", cert.Subject)
			}
			authorities++
		}
	}
	if authorities < 100 {
		t.Errorf("%d authorities", authorities)
	}
}

func TestArchiveNamesTheImageForEveryReader(t *testing.T) {
	file := archive(t, tiny(t, "amd64"))
	_, descriptor := unpacked(t, file)
	for annotation, want := range map[string]string{
		"org.opencontainers.image.ref.name": "v1",      // skopeo, podman
		"io.containerd.image.name":          imageName, // ctr
	} {
		got := descriptor.Annotations[annotation]
		if got != want {
			t.Errorf("%s is %q", annotation, got)
		}
	}
	var listed []struct{ RepoTags []string } // docker
	if err := json.Unmarshal(filesOf(t, file)["manifest.json"], &listed); err != nil || len(listed) != 1 || !slices.Equal(listed[0].RepoTags, []string{imageName}) {
		t.Errorf("%v, %v", listed, err)
	}
	img, err := tarball.ImageFromPath(file, nil) // reads as docker load does
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(img); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotRunIsRefused(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, test := range map[string]struct{ image, binary, want string }{
		"a script":                 {imageName, write("script", []byte("#!/bin/sh\n")), "not a program in Go"},
		"a binary that is not":     {imageName, filepath.Join(dir, "none"), "no such file"},
		"a name without a tag":     {"registry.example/tiny", tiny(t, "amd64"), "name of the image"},
		"a name that is not valid": {"Registry/Tiny:1", tiny(t, "amd64"), "name of the image"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			out := filepath.Join(t.TempDir(), "out.tar")
			code := run([]string{"--name", test.image, "--out", out, test.binary}, &stdout, &stderr)
			if code != 1 || !strings.Contains(stderr.String(), test.want) {
				t.Errorf("exit code %d: %s", code, &stderr)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("an archive was written")
			}
		})
	}
}

func TestWhatWouldNotRunInTheImageIsRefused(t *testing.T) {
	for want, settings := range map[string][]debug.BuildSetting{
		"not for Linux":      {{Key: "GOOS", Value: "darwin"}, {Key: "CGO_ENABLED", Value: "0"}},
		"dynamically linked": {{Key: "GOOS", Value: "linux"}, {Key: "CGO_ENABLED", Value: "1"}},
	} {
		_, err := architectureOf(&debug.BuildInfo{Settings: settings})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestImagesForTwoArchitecturesAreOne(t *testing.T) {
	index, named := indexOfArchive(t, archive(t, tiny(t, "amd64"), tiny(t, "arm64")))
	if named.Annotations["org.opencontainers.image.ref.name"] != "v1" {
		t.Errorf("%+v", named)
	}
	both, err := index.ImageIndex(named.Digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := both.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
	}
	if !slices.Equal(platforms, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("platforms %q", platforms)
	}
	if err := validate.Index(both); err != nil {
		t.Error(err)
	}
}
