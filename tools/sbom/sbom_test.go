package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// written is what the command writes of a file.
func written(t *testing.T, file string, image bool) document {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.json")
	must(t, write("v9.8.7", file, out, image))
	text, err := os.ReadFile(out)
	must(t, err)
	var doc document
	must(t, json.Unmarshal(text, &doc))
	return doc
}

// withGuests is a program that has both guests in it, and a module of others.
func withGuests(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "with-guests")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", program, "./cmd/static-webserver")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

func find(t *testing.T, all []component, name string) component {
	t.Helper()
	i := slices.IndexFunc(all, func(c component) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no %s in %v", name, all)
	}
	return all[i]
}

func TestProgramHasItsModulesGuestsAndCertificates(t *testing.T) {
	program := withGuests(t)
	doc := written(t, program, true)
	self := doc.Metadata.Component
	if self.Version != "v9.8.7" || self.PURL != "pkg:golang/wasmkwokwizardry.io/regex-scheduling@v9.8.7#cmd/static-webserver" || self.Type != "application" {
		t.Errorf("the program is %+v", self)
	}
	for name, want := range map[string]string{
		"go": "BSD-3-Clause", "github.com/spf13/cobra": "Apache-2.0", "ca-certificates": "MPL-2.0", "regex_v1.wasm": "Apache-2.0", "regex_v2.wasm": "Apache-2.0",
	} {
		got := find(t, doc.Components, name)
		if len(got.Licenses) != 1 || got.Licenses[0].Expression != want || got.Version == "" {
			t.Errorf("%s is %+v, want the license %s", name, got, want)
		}
	}
	digest := find(t, doc.Components, "github.com/spf13/cobra").Hashes
	if len(digest) != 1 || len(digest[0].Content) != 64 {
		t.Errorf("the digest is %v", digest)
	}
	nottinygc := find(t, find(t, doc.Components, "regex_v2.wasm").Components, "github.com/wasilibs/nottinygc")
	mod := contentOf(t, "../../v2/go.mod")
	if !strings.Contains(mod, nottinygc.Name+" "+nottinygc.Version+"\n") {
		t.Errorf("nottinygc is %+v, and not as in\n%s", nottinygc, mod)
	}
	refs := map[string]bool{self.Ref: true}
	var collect func([]component)
	collect = func(all []component) {
		for _, c := range all {
			if refs[c.Ref] {
				t.Errorf("two components have the reference %s", c.Ref)
			}
			refs[c.Ref] = true
			collect(c.Components)
		}
	}
	collect(doc.Components)
	if len(doc.Dependencies) != 1 || len(doc.Dependencies[0].DependsOn) != len(doc.Components) {
		t.Errorf("it depends on %v", doc.Dependencies)
	}

	without := written(t, program, false)
	if len(without.Components) != len(doc.Components)-1 {
		t.Errorf("%d components without the image's, %d with them", len(without.Components), len(doc.Components))
	}
}

func TestGuestHasWhatIsLinkedIntoIt(t *testing.T) {
	doc := written(t, "../../static/regex_v2.wasm", false)
	for _, name := range []string{"github.com/tinygo-org/tinygo", "go", "bdwgc", "mimalloc", "wasi-libc", "compiler-rt"} {
		find(t, doc.Components, name)
	}
	// What package parts has in its source holds for these only.
	nottinygc, toolchain := find(t, doc.Components, "github.com/wasilibs/nottinygc"), contentOf(t, "../toolchain.txt")
	if nottinygc.Version != "v0.7.1" {
		t.Errorf("nottinygc is %s: look for the versions in its buildtools/", nottinygc.Version)
	}
	if !strings.Contains(toolchain, "2613786231 2343156 /usr/lib/wasm32-wasi/libc.a\n") {
		t.Errorf("wasi-libc is another one: dpkg -l wasi-libc says which\n%s", toolchain)
	}
	err := write("v9.8.7", "other.wasm", filepath.Join(t.TempDir(), "out.json"), false)
	if err == nil || !strings.Contains(err.Error(), "other.wasm is no guest that is built here") {
		t.Errorf("of a guest that is not ours: %v", err)
	}
}

func contentOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	return string(text)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
