// Command krew packs kubectl-regex for krew, the package manager of kubectl's plugins:
// an archive for each platform that a folder has it for, and the manifest that names
// them with their digests.
//
//	go run ./krew v0.1.0 https://where.the/archives/will/be FOLDER FILE…
//
// Each FILE goes into each archive. The same files give the same bytes on every machine.
// The manifest's format: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"
)

const (
	name    = "regex" // by which krew links the program as kubectl-regex
	program = "kubectl-" + name
)

const head = `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: ` + name + `
spec:
  version: %s
  homepage: https://wasmkwokwizardry.io/regex-scheduling
  shortDescription: Nodes that a pod's regex matches, and mistakes in it
  description: |
    A pod names the nodes that it may run on by a regex in an annotation. This says
    which nodes a regex matches, finds mistakes in manifests, and explains why a pod
    is pending or runs where it does. It reads, and never writes.
  platforms:
`

const platform = `  - selector:
      matchLabels:
        os: %s
        arch: %s
    uri: %s/%s
    sha256: %x
    bin: %s
`

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "krew: wants a version, a URL, a folder, and files for each archive")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, "krew:", err)
		os.Exit(1)
	}
}

func pack(version, downloads, folder string, files []string) error {
	binaries, err := filepath.Glob(filepath.Join(folder, program+"-*-*"))
	if err != nil {
		return err
	}
	if len(binaries) == 0 {
		return fmt.Errorf("%s has no %s-OS-ARCH", folder, program)
	}
	manifest := fmt.Appendf(nil, head, version)
	for _, binary := range binaries {
		base := filepath.Base(binary)
		extension := filepath.Ext(base)
		target := strings.TrimSuffix(strings.TrimPrefix(base, program+"-"), extension)
		packed, err := archive(binary, program+extension, files)
		if err != nil {
			return err
		}
		out := program + "-" + target + ".tar.gz"
		if err := os.WriteFile(filepath.Join(folder, out), packed, 0o644); err != nil {
			return err
		}
		system, arch, _ := strings.Cut(target, "-")
		manifest = fmt.Appendf(manifest, platform, system, arch, downloads, out, sha256.Sum256(packed), program+extension)
	}
	return os.WriteFile(filepath.Join(folder, name+".yaml"), manifest, 0o644)
}

// archive has a binary under another name, and files. Nothing in it depends on times,
// owners or the umask.
func archive(binary, as string, files []string) ([]byte, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	all := fstest.MapFS{as: {Data: content, Mode: 0o755}}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		mode := os.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		all[filepath.Base(file)] = &fstest.MapFile{Data: content, Mode: mode}
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	t := tar.NewWriter(zip)
	err = errors.Join(t.AddFS(all), t.Close(), zip.Close())
	return packed.Bytes(), err
}
