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
	"os/exec"
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
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestReleaseIsWhole(t *testing.T) {
	c := newCheckout(t)
	c.must(t, "make release TAG=v9.8.7")
	files := c.dist(t)
	var want []string
	for program, platforms := range map[string]string{
		"scheduler-kubernetes-1.35": "linux", "scheduler-kubernetes-1.36": "linux", "scheduler-kubernetes-1.37": "linux",
		"simulator": "linux darwin", "extender": "linux darwin", "kubectl-regex": "linux darwin windows", "guest": "linux darwin windows",
	} {
		for system := range strings.FieldsSeq(platforms) {
			for _, arch := range []string{"amd64", "arm64"} {
				file := program + "-" + system + "-" + arch
				if program == "kubectl-regex" {
					want = append(want, "node-regex-"+system+"-"+arch+".tar.gz")
				}
				if system == "windows" {
					file += ".exe"
				}
				want = append(want, file, "sbom/"+file+".cdx.json")
			}
		}
	}
	for _, image := range []string{
		"scheduler", "simulator", "extender", "static-webserver",
		"scheduler-kubernetes-1.35", "simulator-kubernetes-1.35", "scheduler-kubernetes-1.37", "simulator-kubernetes-1.37",
	} {
		want = append(want, "images/"+image+".tar", "sbom/"+image+"-linux-amd64.cdx.json", "sbom/"+image+"-linux-arm64.cdx.json")
	}
	want = append(want, "node-regex.yaml", "regex-scheduling-9.8.7.tgz", "regex_v1.wasm", "regex_v2.wasm", "CHANGES.md", "SHA256SUMS")
	slices.Sort(want)
	want = slices.Compact(want) // a program that is also in an image has one bill of materials
	got := slices.Sorted(maps.Keys(files))
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
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

// TestDocumentVerifiesARelease does with a release what docs/install.md says.
func TestDocumentVerifiesARelease(t *testing.T) {
	page, err := os.ReadFile("../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(string(page), -1)
	if len(commands) != 2 {
		t.Fatalf("of its blocks of commands this test knows two: %q", commands)
	}
	c := newCheckout(t)
	for _, name := range []string{"curl", "diff", "sha256sum"} { // on Linux
		program, err := exec.LookPath(name)
		if err := errors.Join(err, os.Symlink(program, filepath.Join(c.path, name))); err != nil {
			t.Fatal(err)
		}
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
		c := newCheckout(t)
		c.must(t, "umask "+umask+" && git clone -q . ../again && cd ../again && make release TAG=v9.8.7")
		c.root = filepath.Join(filepath.Dir(c.root), "again")
		releases[i] = c.dist(t)
	}
	for name, text := range releases[0] {
		if releases[1][name] != text {
			t.Errorf("%s differs", name)
		}
	}
	packed, err := gzip.NewReader(strings.NewReader(releases[0]["node-regex-windows-arm64.tar.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for archive := tar.NewReader(packed); ; {
		file, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&got, file.FileInfo().Mode(), file.Name, file.Uid, file.Uname, file.ModTime.Unix())
	}
	const want = "-rw-r--r-- LICENSE 0  0\n-rwxr-xr-x kubectl-regex.exe 0  0\n-rwxr-xr-x kubectl_complete-regex 0  0\n"
	if got.String() != want {
		t.Errorf("krew's archive has\n%swant\n%s", &got, want)
	}
}

func TestWhatCannotBeWholeIsNoRelease(t *testing.T) {
	for _, test := range []struct {
		name, spoil, refused, broken string
		want                         string
	}{
		{
			name: "outside of git", spoil: "rm -rf .git",
			want: "release: this is no git checkout, so no commit can be named: fatal: not a git repository",
		},
		{
			name: "unpacked in the checkout of something else", spoil: "rm -rf .git && git -C .. init -q",
			want: "release: this is no git checkout, so no commit can be named: it is the folder checkout/ of another one",
		},
		{
			name: "something is not committed", spoil: ">new",
			want: "release: not everything is committed",
		},
		{
			name: "the tag is another commit's", spoil: "git tag v9.8.7 && git commit -q --allow-empty -m second",
			want: "release: the tag v9.8.7 is of another commit: git checkout v9.8.7",
		},
		{
			name: "a minor is refused", refused: "-modfile=tools/kubernetes/1.37.mod",
			want: "release: it would not be whole, so nothing is made: tools/kubernetes/1.37.mod: cannot be had here: example.com/m@v1.0.0: 403 Forbidden",
		},
		{
			name: "what makes the bills of materials is refused", refused: "tools",
			want: "release: it would not be whole, so nothing is made: tools/: cannot be had here: example.com/m@v1.0.0: 403 Forbidden",
		},
		{
			name: "the changelog has nothing", spoil: "echo '# Changelog' >CHANGELOG.md && git commit -qam empty",
			want: `release: CHANGELOG.md says nothing under "## 9.8.7", nor under "## Unreleased"`,
		},
		{
			name: "a program does not compile", broken: "./cmd/guest",
			want: "release: it failed, see above: dist/ is removed",
		},
		{
			name: "an image's program does not compile", broken: "./cmd/static-webserver",
			want: "release: it failed, see above: dist/ is removed",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCheckout(t)
			c.must(t, test.spoil)
			environment := []string{}
			if test.refused != "" {
				environment = append(environment, "REFUSED="+test.refused)
			}
			if test.broken != "" {
				environment = append(environment, "BROKEN="+test.broken)
			}
			said, err := c.try(t, "make release TAG=v9.8.7", environment...)
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
	c := newCheckout(t)
	said, err := c.try(t, "make sign")
	if err == nil || !strings.Contains(said, "sign: no key; write make sign KEY=cosign.key") {
		t.Errorf("without a key: %v, %s", err, said)
	}
	said, err = c.try(t, "make sign KEY=cosign.key")
	if err == nil || !strings.Contains(said, "sign: cosign is not on PATH") {
		t.Errorf("without cosign: %v, %s", err, said)
	}
	program, err := exec.LookPath("uname")
	if err := errors.Join(err, os.Symlink(program, filepath.Join(c.path, "uname")), os.WriteFile(filepath.Join(c.path, "cosign"), []byte(cosign), 0o755)); err != nil {
		t.Fatal(err)
	}
	said, err = c.try(t, "make sign KEY=cosign.key")
	if err == nil || !strings.Contains(said, "sign: there is no release in dist/") {
		t.Errorf("without a release: %v, %s", err, said)
	}
	c.must(t, "git remote add origin https://me:secret@git.example/here")
	c.must(t, "mkdir dist && cd dist && for f in regex_v1.wasm regex_v2.wasm old.sigstore.json; do echo >$f; done && echo '0  regex-scheduling-9.8.7.tgz' >SHA256SUMS")
	for _, tags := range []string{"true", "git tag v9.8.7 && git commit -q --allow-empty -m second"} {
		c.must(t, tags)
		said, err = c.try(t, "make sign KEY=cosign.key")
		if err == nil || !strings.Contains(said, "sign: the tag v9.8.7 of dist/ is not here, or not of this commit") {
			t.Errorf("after %s: %v, %s", tags, err, said)
		}
	}
	c.must(t, "git checkout -q v9.8.7 && git tag compat/scenario/v9.8.7") // which is first in the alphabet
	said, err = c.try(t, "make sign KEY=cosign.key")
	if err == nil || !strings.Contains(said, "sign: there is no key cosign.key") {
		t.Errorf("without a file: %v, %s", err, said)
	}
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
	if err := errors.Join(err, json.Unmarshal(text, &provenance)); err != nil {
		t.Fatal(err)
	}
	commit, err := c.try(t, "git rev-parse HEAD")
	of := provenance.BuildDefinition
	if err != nil || of.ExternalParameters.Tag != "v9.8.7" || of.ResolvedDependencies[0].URI != "git+https://git.example/here" || of.ResolvedDependencies[0].Digest.GitCommit != strings.TrimSpace(commit) {
		t.Errorf("%s is not of commit %s (%v)", text, commit, err)
	}
}
