package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

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
	name := filepath.Base(binary)
	data, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	below, err := layer(base())
	if err != nil {
		return nil, err
	}
	files, err := licenses(info)
	if err != nil {
		return nil, err
	}
	files[name] = file(0o755, data)
	top, err := layer(files)
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if img, err = mutate.ConfigFile(img, configOf(name, arch, labels)); err != nil {
		return nil, err
	}
	return mutate.Append(img,
		mutate.Addendum{Layer: below, History: history("certificates, a user and /tmp")},
		mutate.Addendum{Layer: top, History: history("the binary and licenses")})
}

// architectureOf says what a program is for, if it runs in an image that holds nothing
// else.
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

func configOf(name, arch string, labels map[string]string) *v1.ConfigFile {
	labels = maps.Clone(labels)
	labels["org.opencontainers.image.title"] = name
	labels["org.opencontainers.image.licenses"] = "Apache-2.0" // ours; /licenses has all of them
	return &v1.ConfigFile{
		Architecture: arch,
		OS:           "linux",
		Created:      v1.Time{Time: epoch},
		RootFS:       v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User:       user + ":" + user,
			Entrypoint: []string{"/" + name},
			WorkingDir: "/",
			Env:        []string{"PATH=/"},
			Labels:     labels,
		},
	}
}

func history(comment string) v1.History {
	return v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "tools/image", Comment: comment}
}
