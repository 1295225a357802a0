// Command sbom writes what a program in Go, or a guest in static/, is made of, with licenses, in
// CycloneDX's format:
//
//	go run ./sbom v0.1.0 PROGRAM OUT
//	go run ./sbom --image v0.1.0 PROGRAM OUT
//	go run ./sbom v0.1.0 ../static/regex_v2.wasm OUT
//
// With --image it is of the program's image, which has certificates too. The same program and
// version give the same bytes. The format: https://cyclonedx.org/docs/1.6/json/
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"

	"wasmkwokwizardry.io/regex-scheduling/tools/internal/parts"
)

type document struct {
	Schema       string       `json:"$schema"`
	BOMFormat    string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string      `json:"type"`
	Ref        string      `json:"bom-ref"`
	Name       string      `json:"name"`
	Version    string      `json:"version,omitempty"`
	Hashes     []hash      `json:"hashes,omitempty"`
	Licenses   []license   `json:"licenses,omitempty"`
	PURL       string      `json:"purl,omitempty"`
	Components []component `json:"components,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type license struct {
	Expression string `json:"expression"` // of SPDX
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

func main() {
	image := flag.Bool("image", false, "of the program's image")
	flag.Parse()
	if flag.NArg() != 3 {
		fmt.Fprintln(os.Stderr, "sbom: wants a version, a program and a file to write")
		os.Exit(2)
	}
	err := write(flag.Arg(0), flag.Arg(1), flag.Arg(2), *image)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(version, file, out string, image bool) error {
	doc, err := describe(version, file, image)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

func describe(version, file string, image bool) (*document, error) {
	self, all, err := read(version, file, image)
	if err != nil {
		return nil, err
	}
	components, err := componentsOf(version, "", all)
	if err != nil {
		return nil, err
	}
	dependencies := []dependency{{Ref: self.Ref}}
	for _, c := range components {
		dependencies[0].DependsOn = append(dependencies[0].DependsOn, c.Ref)
	}
	return &document{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", BOMFormat: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: metadata{self}, Components: components, Dependencies: dependencies,
	}, nil
}

// read returns the file as a component, and its parts.
func read(version, file string, image bool) (self component, all []parts.Part, err error) {
	self = component{Type: "application", Version: version, Licenses: []license{{"Apache-2.0"}}}
	if filepath.Ext(file) == ".wasm" {
		guest, err := parts.Guest(filepath.Base(file))
		self.Name, self.Ref = guest.Name, guest.Name
		self.Hashes = []hash{{"SHA-256", guest.SHA256}}
		return self, guest.Parts, err
	}
	program, err := parts.Read(file)
	if err != nil {
		return component{}, nil, err
	}
	self.Name = program.Path
	self.PURL = "pkg:golang/" + program.Main.Path + "@" + version + "#" + strings.TrimPrefix(program.Path, program.Main.Path+"/")
	self.Ref = self.PURL
	all = program.Parts[1:] // the first is the program's own source
	if image {
		list, err := parts.Authorities()
		return self, append(all, list), err
	}
	return self, all, nil
}

// componentsOf describes parts. Those of a guest have references that begin with its name, since
// two guests can have the same.
func componentsOf(version, prefix string, all []parts.Part) (components []component, err error) {
	for _, part := range all {
		c := component{
			Type: "library", Ref: prefix + cmp.Or(part.PURL, part.Name), Name: part.Name, Version: cmp.Or(part.Version, version), PURL: part.PURL,
		}
		spdx, identified := expression(part)
		if identified != nil {
			return nil, fmt.Errorf("%s: %w", part.Name, identified)
		}
		c.Licenses = []license{{spdx}}
		if part.SHA256 != "" {
			c.Hashes = []hash{{"SHA-256", part.SHA256}}
		}
		if part.PURL == "" {
			c.Type = "application" // a guest
		}
		c.Components, err = componentsOf(version, prefix+part.Name+"/", part.Parts)
		if err != nil {
			return nil, err
		}
		components = append(components, c)
	}
	return components, nil
}

// expression is the license of a part, by its texts where it has no identifier.
func expression(part parts.Part) (string, error) {
	if part.SPDX != "" {
		return part.SPDX, nil
	}
	var ids []string
	for _, text := range part.Licenses {
		for _, match := range licensecheck.Scan(text).Match {
			if !match.IsURL {
				ids = append(ids, match.ID)
			}
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return "", errors.New("its license is unknown")
	}
	return strings.Join(ids, " AND "), nil
}
