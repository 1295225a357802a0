package tools

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dist is the release, by name.
func (c checkout) dist(t *testing.T) map[string]string {
	t.Helper()
	files, root := map[string]string{}, os.DirFS(filepath.Join(c.root, "dist"))
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, path)
		files[path] = string(text)
		return err
	})
	must(t, err)
	return files
}

func TestReleaseIsWhole(t *testing.T) {
	c := newCheckout(t, "v9.8.7")
	c.must(t, "make release TAG=v9.8.7")
	files := c.dist(t)
	got := strings.Join(slices.Sorted(maps.Keys(files)), "\n") + "\n"
	want := string(contentOf(t, "testdata/release.txt"))
	if got != want {
		t.Errorf("got\n%s\nand not as in testdata/release.txt", got)
	}
	bill := files["sbom/guest-linux-arm64.cdx.json"]
	if !json.Valid([]byte(bill)) {
		t.Errorf("a bill of materials is not JSON: %s", bill)
	}
	for name := range files {
		if name != "SHA256SUMS" && !strings.Contains(files["SHA256SUMS"], "  "+name+"\n") {
			t.Errorf("no digest of %s in\n%s", name, files["SHA256SUMS"])
		}
	}
	c.must(t, "cd dist && shasum -a 256 --check SHA256SUMS")
}

func TestTrialOfAReleaseNeedsNoNumber(t *testing.T) {
	c := newCheckout(t, "v9.8.7")
	c.must(t, "for f in CHANGELOG.md go.mod; do sed 's/^## 9.8.7 /## Unreleased /; s, v9.8.7$, v0.0.0,' $f >new && mv new $f; done && git commit -qam none")
	c.must(t, "make release TAG=v0.0.0-trial")
	files := c.dist(t)
	if !strings.Contains(files["CHANGES.md"], "- ") || files["kubectl-regex-linux-amd64"] == "" {
		t.Errorf("the changes are %q, of files %q", files["CHANGES.md"], slices.Sorted(maps.Keys(files)))
	}
}

// TestDocumentVerifiesARelease does with a release what docs/install.md says.
func TestDocumentVerifiesARelease(t *testing.T) {
	text, _, _ := strings.Cut(string(contentOf(t, "../docs/install.md")), "\n## On a cluster\n")
	commands := regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(text, -1)
	if len(commands) != 2 {
		t.Fatalf("of its blocks of commands this test knows two: %q", commands)
	}
	c := newCheckout(t, "v0.1.0")
	for _, name := range []string{"curl", "diff", "sha256sum"} { // on Linux
		c.link(t, name)
	}
	c.must(t, "git tag v0.1.0")
	environment := []string{"REGISTRY=registry.example/mine", "DOWNLOADS=file://" + filepath.Join(c.root, "dist")}
	c.must(t, `make release TAG=v0.1.0 REGISTRY="$REGISTRY" DOWNLOADS="$DOWNLOADS" && git clone -q . ../downloaded/clone`, environment...)

	c.root = filepath.Join(filepath.Dir(c.root), "downloaded")
	c.must(t, "set -e\n"+commands[0], environment...)
	c.must(t, "cd clone\n"+commands[1], environment...)
}

// Who makes it again, with other habits, can compare.
func TestReleaseHasTheSameBytesOnEachMachine(t *testing.T) {
	var releases [2]map[string]string
	for i, umask := range []string{"022", "077"} {
		c := newCheckout(t, "v9.8.7")
		c.must(t, "umask "+umask+" && git clone -q . ../again && cd ../again && make release TAG=v9.8.7")
		c.root = filepath.Join(filepath.Dir(c.root), "again")
		releases[i] = c.dist(t)
	}
	for name, text := range releases[0] {
		if releases[1][name] != text {
			t.Errorf("%s differs", name)
		}
	}
	packed, err := gzip.NewReader(strings.NewReader(releases[0]["kubectl-regex-windows-arm64.tar.gz"]))
	must(t, err)
	var got bytes.Buffer
	for archive := tar.NewReader(packed); ; {
		file, err := archive.Next()
		if err == io.EOF {
			break
		}
		must(t, err)
		fmt.Fprintln(&got, file.FileInfo().Mode(), file.Name, file.Uid, file.Uname, file.ModTime.Unix())
	}
	const want = "-rw-r--r-- LICENSE 0  0\n-rwxr-xr-x kubectl-regex.exe 0  0\n-rwxr-xr-x kubectl_complete-regex 0  0\n"
	if got.String() != want {
		t.Errorf("krew's archive has\n%swant\n%s", &got, want)
	}
}

func TestTagOfAReleaseIsASemanticVersion(t *testing.T) {
	c := newCheckout(t, "v9.8.7")
	c.must(t, ">new") // no tag makes a release of this
	const version, none = "release: not everything is committed", " is no version; write it as v0.1.0"
	for tag, want := range map[string]string{
		"v0.1.0": version, "v10.20.30": version, "v0.1.0-rc.1": version, "v0.1.0-0": version, "v0.1.0-0a.x-y": version, "v0.0.0-trial": version,
		"": none, "0.1.0": none, "v0.1": none, "v01.002.3": none, "v0.1.0-": none, "v0.1.0-..": none, "v0.1.0-rc.": none, "v0.1.0-rc.01": none, "v0.1.0+a": none,
	} {
		said, err := c.try(t, "make release TAG="+tag)
		if err == nil || !strings.Contains(said, want) {
			t.Errorf("%s: error %v, want %q:\n%s", tag, err, want, said)
		}
	}
}

func TestReleaseFailsWhereItWouldNotBeWhole(t *testing.T) {
	const notWhole, notNamed = "release: it would not be whole, so nothing is made: ", "release: this is no git checkout, so no commit can be named: "
	for name, test := range map[string]struct{ spoil, environment, want string }{
		"outside of git": {"rm -rf .git", "", notNamed + "fatal: not a git repository"},
		"unpacked in the checkout of something else": {
			"rm -rf .git && git -C .. init -q", "", notNamed + "it is the folder checkout/ of another one",
		},
		"something is not committed": {">new", "", "release: not everything is committed"},
		"the tag is another commit's": {
			"git tag v9.8.7 && git commit -q --allow-empty -m second", "", "release: the tag v9.8.7 is of another commit: git checkout v9.8.7",
		},
		"a minor is refused": {
			"true", "REFUSED=-modfile=tools/kubernetes/1.37.mod",
			notWhole + "tools/kubernetes/1.37.mod: cannot be had here: example.com/m@v1.0.0: 403 Forbidden",
		},
		"what makes the bills of materials is refused": {
			"true", "REFUSED=tools", notWhole + "tools/: cannot be had here: example.com/m@v1.0.0: 403 Forbidden",
		},
		"the changelog has nothing": {
			"echo '# Changelog' >CHANGELOG.md && git commit -qam empty", "", `release: CHANGELOG.md says nothing under "## 9.8.7"`,
		},
		"the changelog has another release, and what is not released": {
			"sed 's/^## 9.8.7 /## Unreleased\\n\\n- new\\n\\n## 9.8.6 /' CHANGELOG.md >new && mv new CHANGELOG.md && git commit -qam other", "",
			`release: CHANGELOG.md says nothing under "## 9.8.7"`,
		},
		"our own modules have no version": {
			"sed 's,/abi v9.8.7$,/abi v0.0.0,' tools/kubernetes/1.35.mod >new && mv new tools/kubernetes/1.35.mod && git commit -qam none", "",
			"require v9.8.7 of each: tools/kubernetes/1.35.mod: wasmkwokwizardry.io/regex-scheduling/abi v0.0.0\n",
		},
		"a program does not compile":          {"true", "BROKEN=./cmd/guest", "release: it failed, see above: dist/ is removed"},
		"an image's program does not compile": {"true", "BROKEN=./cmd/static-webserver", "release: it failed, see above: dist/ is removed"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCheckout(t, "v9.8.7")
			c.must(t, test.spoil)
			said, err := c.try(t, "make release TAG=v9.8.7", strings.Fields(test.environment)...)
			if err == nil || !strings.Contains(said, test.want) {
				t.Errorf("error %v, want %q:\n%s", err, test.want, said)
			}
			if _, err := os.Stat(filepath.Join(c.root, "dist")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("dist is there: %v", err)
			}
		})
	}
}

// cosign writes down what it is asked, and a bundle.
const cosign = `#!/bin/sh
echo "$@" >>"$CALLS"
for arg; do
	case $last in --bundle) out=$arg ;; --predicate) cp "$arg" "$CALLS.predicate" ;; esac
	last=$arg
done
echo "{}" >"$out"
`

func TestReleaseIsSigned(t *testing.T) {
	c := newCheckout(t, "v9.8.7")
	refused := func(prepare, command, want string) {
		t.Helper()
		c.must(t, prepare)
		said, err := c.try(t, command)
		if err == nil || !strings.Contains(said, "sign: "+want) {
			t.Errorf("after %s: error %v, want %q: %s", prepare, err, want, said)
		}
	}
	const sign, noTag = "make sign KEY=cosign.key", "the tag v9.8.7 of dist/ is not here, or not of this commit"
	refused("true", "make sign", "no key; write make sign KEY=cosign.key")
	refused("true", sign, "cosign is not on PATH")
	c.link(t, "uname")
	must(t, os.WriteFile(filepath.Join(c.path, "cosign"), []byte(cosign), 0o755))
	refused("git remote add origin https://me:secret@git.example/here", sign, "there is no release in dist/")
	refused("mkdir dist && cd dist && for f in regex_v1.wasm regex_v2.wasm old.sigstore.json; do echo >$f; done && echo '0  regex-scheduling-9.8.7.tgz' >SHA256SUMS", sign, noTag)
	refused("git tag v9.8.7 && git commit -q --allow-empty -m second", sign, noTag)
	refused("git checkout -q v9.8.7 && git tag abi/v9.8.7", sign, "there is no key cosign.key") // the tag is first in the alphabet
	calls := filepath.Join(t.TempDir(), "calls")
	c.must(t, "echo >../cosign.key && make sign KEY=../cosign.key FLAGS=--tlog-upload=false", "CALLS="+calls)
	key := filepath.Join(filepath.Dir(c.root), "cosign.key")
	got, err := os.ReadFile(calls)
	want := ""
	for _, file := range []string{"regex_v1.wasm", "regex_v2.wasm", "SHA256SUMS"} {
		want += "sign-blob --yes --key " + key + " --tlog-upload=false --bundle " + file + ".sigstore.json " + file + "\n"
	}
	rest, ok := strings.CutPrefix(string(got), want)
	if err != nil || !ok || !strings.HasPrefix(rest, "attest-blob --yes --key "+key+" --tlog-upload=false --type slsaprovenance1 ") {
		t.Errorf("%v: got\n%swant\n%s", err, got, want)
	}
	if _, err := os.Stat(filepath.Join(c.root, "dist", "old.sigstore.json")); err == nil {
		t.Error("a former signature is left")
	}
	var provenance struct {
		BuildDefinition struct {
			ExternalParameters   struct{ Tag string }
			ResolvedDependencies []struct {
				URI    string
				Digest struct{ GitCommit string }
			}
		}
	}
	text, err := os.ReadFile(calls + ".predicate")
	must(t, errors.Join(err, json.Unmarshal(text, &provenance)))
	commit, err := c.try(t, "git rev-parse HEAD")
	of := provenance.BuildDefinition
	if err != nil || of.ExternalParameters.Tag != "v9.8.7" || of.ResolvedDependencies[0].URI != "git+https://git.example/here" || of.ResolvedDependencies[0].Digest.GitCommit != strings.TrimSpace(commit) {
		t.Errorf("%s is not of commit %s (%v)", text, commit, err)
	}
}
