package parts

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/mod/modfile"
)

// A guest is built, and committed, in static/. Wasm does not say what it was made of: the modules are
// of the guest's go.mod, and the rest is what tools/build-guest.sh links.
type guest struct {
	file, module string
	modules      []guestModule
	others       []Part
}

// A guestModule is linked into a guest. Its text is in licenses.
type guestModule struct{ path, spdx, text string }

var (
	experimentalJSON = guestModule{"github.com/go-json-experiment/json", "BSD-3-Clause", "json"}
	guests           = []guest{
		{"regex_v1.wasm", "v1", []guestModule{
			experimentalJSON,
			{"google.golang.org/protobuf", "BSD-3-Clause", "protobuf"},
			{"sigs.k8s.io/kube-scheduler-wasm-extension/guest", "Apache-2.0", ""}, // as ours
			{"sigs.k8s.io/kube-scheduler-wasm-extension/kubernetes/proto", "Apache-2.0", ""},
		}, nil},
		{"regex_v2.wasm", "v2", []guestModule{experimentalJSON, {"github.com/wasilibs/nottinygc", "MIT", "nottinygc"}}, ofNottinygc},
	}
	// ofNottinygc is what nottinygc 0.7.1 has built in its folder wasm/, by its folder buildtools/.
	ofNottinygc = []Part{
		{Name: "bdwgc", Version: "1d9826992aa2a2783c9badbacddae70fdf7fffee", PURL: "pkg:github/ivmai/bdwgc@1d9826992aa2a2783c9badbacddae70fdf7fffee", SPDX: "Boehm-GC"},
		{Name: "mimalloc", Version: "d1fff1119a52e15c1c3807efe1077024c39fe70e", PURL: "pkg:github/microsoft/mimalloc@d1fff1119a52e15c1c3807efe1077024c39fe70e", SPDX: "MIT"},
	}
)

const (
	tinygo     = "github.com/tinygo-org/tinygo"
	apacheLLVM = "Apache-2.0 WITH LLVM-exception"
	// wasiLibc is the package of Debian 12, where the guests are built: tools/README.md.
	wasiLibc = "0.0~git20220510.9886d3d"
)

// Guest is a built guest in static/, by the name of its file.
func Guest(file string) (Part, error) {
	tools, _, err := folders()
	if err != nil {
		return Part{}, err
	}
	for _, guest := range guests {
		if guest.file != file {
			continue
		}
		root := filepath.Dir(tools)
		wasm, err := os.ReadFile(filepath.Join(root, "static", file))
		if err != nil {
			return Part{}, err
		}
		return guest.part(root, wasm)
	}
	return Part{}, fmt.Errorf("%s is no guest that is built here", file)
}

func (g guest) part(root string, wasm []byte) (Part, error) {
	part := Part{Name: g.file, SHA256: fmt.Sprintf("%x", sha256.Sum256(wasm)), SPDX: "Apache-2.0"}
	versions, err := versionsIn(filepath.Join(root, g.module, "go.mod"))
	if err != nil {
		return Part{}, err
	}
	compiler, err := versionsIn(filepath.Join(root, "tools", "tinygo", "go.mod"))
	if err != nil {
		return Part{}, err
	}
	versions[tinygo] = compiler[tinygo]
	for _, module := range append([]guestModule{{tinygo, "BSD-3-Clause", "tinygo"}}, g.modules...) {
		version := versions[module.path]
		if version == "" {
			return Part{}, fmt.Errorf("its go.mod does not require %s", module.path)
		}
		one := Part{Name: module.path, Version: version, PURL: "pkg:golang/" + module.path + "@" + version, SPDX: module.spdx}
		if module.text != "" {
			one.Licenses, err = textsOf(module.text)
			if err != nil {
				return Part{}, err
			}
		}
		part.Parts = append(part.Parts, one)
	}
	others, err := linked(root)
	if err != nil {
		return Part{}, err
	}
	for _, one := range append(others, g.others...) {
		one.Licenses, err = textsOf(one.Name)
		if err != nil {
			return Part{}, err
		}
		part.Parts = append(part.Parts, one)
	}
	return part, nil
}

// linked is what TinyGo links, by what tools/toolchain.txt has of the build.
func linked(root string) ([]Part, error) {
	text, err := os.ReadFile(filepath.Join(root, "tools", "toolchain.txt"))
	if err != nil {
		return nil, err
	}
	built := regexp.MustCompile(`using go version go([0-9.]+) and LLVM version ([0-9.]+)`).FindSubmatch(text)
	if built == nil {
		return nil, errors.New("tools/toolchain.txt has no versions of Go and LLVM")
	}
	golang, llvm := string(built[1]), string(built[2])
	return []Part{
		{Name: "go", Version: golang, PURL: "pkg:golang/std@" + golang, SPDX: "BSD-3-Clause"},
		{Name: "compiler-rt", Version: llvm, PURL: "pkg:github/llvm/llvm-project@llvmorg-" + llvm + "#compiler-rt", SPDX: apacheLLVM},
		{Name: "wasi-libc", Version: wasiLibc, PURL: "pkg:deb/debian/wasi-libc@" + wasiLibc, SPDX: "MIT AND BSD-2-Clause AND BSD-3-Clause AND CC0-1.0 AND ISC"},
	}, nil
}

func versionsIn(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	mod, err := modfile.ParseLax(file, text, nil)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for _, require := range mod.Require {
		versions[require.Mod.Path] = require.Mod.Version
	}
	return versions, nil
}
