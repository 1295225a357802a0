// Package parts finds what a program in Go is made of, with its licenses: the modules that the
// program names, Go, and the built guests that it embeds, which name nothing.
package parts

import (
	"bytes"
	"debug/buildinfo"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	modulepath "golang.org/x/mod/module"
)

// A Part is one of them.
type Part struct {
	Name     string
	Version  string // empty for what has the version of the program
	PURL     string // https://github.com/package-url/purl-spec
	SHA256   string // in hexadecimal; of a module the one in go.sum, which is of the digests of its files
	SPDX     string // the license's identifier, where it is known without reading Licenses
	Licenses map[string][]byte
	Parts    []Part // what it is made of itself
}

// licenses has texts that no module has: of what is in the guests, and of the certificates.
//
//go:embed licenses
var licenses embed.FS

// A Program is what Read found.
type Program struct {
	*debug.BuildInfo
	Content []byte // the file
	Parts   []Part
}

// Read reads a program in Go, and the licenses of its modules from where go build had them.
func Read(file string) (*Program, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("not a program in Go: %w", err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	tools, cache, err := folders()
	if err != nil {
		return nil, err
	}
	program := &Program{BuildInfo: info, Content: content}
	ours, err := textsIn(filepath.Dir(tools))
	if err != nil {
		return nil, err
	}
	program.add(Part{Name: "regex-scheduling", PURL: "pkg:golang/wasmkwokwizardry.io/regex-scheduling", Licenses: ours})
	texts, err := textsOf("go") // a distribution's Go has none
	if err != nil {
		return nil, err
	}
	version := strings.TrimPrefix(info.GoVersion, "go")
	program.add(Part{Name: "go", Version: version, PURL: "pkg:golang/std@" + version, Licenses: texts})
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		if module.Sum == "" { // a folder of ours
			continue
		}
		escaped, err := modulepath.EscapePath(module.Path)
		if err != nil {
			return nil, err
		}
		texts, err := textsIn(filepath.Join(cache, escaped+"@"+module.Version))
		if err != nil {
			return nil, err
		}
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:"))
		if err != nil {
			return nil, fmt.Errorf("%s: sum %s: %w", module.Path, module.Sum, err)
		}
		program.add(Part{
			Name: module.Path, Version: module.Version, PURL: "pkg:golang/" + module.Path + "@" + module.Version,
			SHA256: hex.EncodeToString(sum), Licenses: texts,
		})
	}
	guests, err := guestsIn(filepath.Dir(tools), content)
	program.add(guests...)
	return program, err
}

func (p *Program) add(more ...Part) { p.Parts = append(p.Parts, more...) }

// folders returns the folders of this module, and of the cache of modules.
func folders() (tools, cache string, err error) {
	out, err := exec.Command("go", "env", "GOMOD", "GOMODCACHE").Output()
	if err != nil {
		return "", "", fmt.Errorf("go env: %w", err)
	}
	env := strings.Split(string(out), "\n")
	return filepath.Dir(env[0]), env[1], nil
}

// Authorities is Mozilla's list of authorities, which has the version of the module that it is in.
func Authorities() (Part, error) {
	const module = "golang.org/x/crypto/x509roots/fallback"
	tools, _, err := folders()
	if err != nil {
		return Part{}, err
	}
	versions, err := versionsIn(filepath.Join(tools, "go.mod"))
	if err != nil {
		return Part{}, err
	}
	texts, err := textsOf("ca-certificates")
	if err != nil {
		return Part{}, err
	}
	version := versions[module]
	return Part{Name: "ca-certificates", Version: version, PURL: "pkg:golang/" + module + "@" + version, SPDX: "MPL-2.0", Licenses: texts}, nil
}

var isLicense = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice)`)

// textsIn returns the licenses and notices in a folder, by file.
func textsIn(folder string) (map[string][]byte, error) { return textsOfFS(os.DirFS(folder)) }

// textsOf returns the texts in a folder of licenses.
func textsOf(name string) (map[string][]byte, error) {
	folder, err := fs.Sub(licenses, "licenses/"+name)
	if err != nil {
		return nil, err
	}
	return textsOfFS(folder)
}

func textsOfFS(folder fs.FS) (map[string][]byte, error) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for _, entry := range entries {
		if entry.IsDir() || !isLicense.MatchString(entry.Name()) || filepath.Ext(entry.Name()) == ".go" {
			continue
		}
		texts[entry.Name()], err = fs.ReadFile(folder, entry.Name())
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// guestsIn are the built guests that a program has in it.
func guestsIn(root string, program []byte) (found []Part, err error) {
	for _, guest := range guests {
		file := filepath.Join(root, "static", guest.file)
		wasm, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(program, wasm) {
			continue
		}
		part, err := guest.part(root, wasm)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		found = append(found, part)
	}
	return found, nil
}
