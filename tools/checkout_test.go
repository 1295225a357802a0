package tools

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// buildsNothing is a go that builds nothing. What it refuses is unavailable.
const buildsNothing = `#!/bin/sh
for arg; do
	case $last in -o | --out) out=$arg ;; esac
	last=$arg
done
case $* in
"mod download" | "list -deps"*)
	case "$PWD $GOFLAGS" in *"$REFUSED"*) echo "example.com/m@v1.0.0: 403 Forbidden" >&2; exit 1 ;; esac ;;
"run ./sbom"*) for out; do :; done; echo '{}' >"$out" ;;
build*cmd/helm)
	mkdir -p "$(dirname "$out")"
	printf '#!/bin/sh\nfor arg; do [ "$last" != --destination ] || out=$arg; last=$arg; done\necho chart >"$out/regex-scheduling-9.8.7.tgz"\n' >"$out"
	chmod +x "$out" ;;
build*"$BROKEN") echo "$BROKEN does not compile" >&2; exit 1 ;;
build* | "run ./image"*)
	mkdir -p "$(dirname "$out")"
	echo "$GOOS/$GOARCH $(basename "$last")" >"$out" ;;
*) exec REAL "$@" ;;
esac
`

// onMacOS is what a release needs of a machine. There is neither GNU tar nor sha256sum.
var onMacOS = []string{
	"awk", "basename", "bash", "cat", "chmod", "cp", "cut", "dirname", "echo", "env", "find", "git", "grep", "head", "make",
	"mkdir", "mktemp", "mv", "rm", "sed", "sh", "shasum", "sort", "touch", "wc", "xargs",
}

// checkout is a git repository that a release can be made in.
type checkout struct{ root, path string }

// newCheckout has what CONTRIBUTING.md says of the commit that becomes a tag.
func newCheckout(t *testing.T, tag string) checkout {
	t.Helper()
	c := checkout{root: filepath.Join(t.TempDir(), "checkout"), path: t.TempDir()}
	for _, name := range []string{"tools", "cmd", "deploy", "static", "Makefile", "go.mod", "LICENSE", "CHANGELOG.md", ".gitignore"} {
		must(t, copyInto(c.root, name))
	}
	for _, name := range onMacOS {
		c.link(t, name)
	}
	program, err := exec.LookPath("go")
	script := []byte(strings.Replace(buildsNothing, "REAL", program, 1))
	must(t, errors.Join(err, os.WriteFile(filepath.Join(c.path, "go"), script, 0o755)))
	c.edit(t, "CHANGELOG.md", "## Unreleased\n", "## "+strings.TrimPrefix(tag, "v")+" - 2026-12-24\n")
	for _, file := range []string{"go.mod", "tools/kubernetes/1.35.mod", "tools/kubernetes/1.37.mod"} {
		for _, module := range []string{"abi", "guest", "regex"} {
			c.edit(t, file, "regex-scheduling/"+module+" v0.0.0\n", "regex-scheduling/"+module+" "+tag+"\n")
		}
	}
	c.must(t, "git init -q . && git add . && git commit -qm first")
	return c
}

// link gives the checkout one more program of this machine.
func (c checkout) link(t *testing.T, name string) {
	t.Helper()
	program, err := exec.LookPath(name)
	must(t, errors.Join(err, os.Symlink(program, filepath.Join(c.path, name))))
}

// edit replaces what is in a file once.
func (c checkout) edit(t *testing.T, file, old, replacement string) {
	t.Helper()
	text := string(contentOf(t, filepath.Join(c.root, file)))
	if strings.Count(text, old) != 1 {
		t.Fatalf("%s has %d times %q", file, strings.Count(text, old), old)
	}
	write(t, filepath.Join(c.root, file), []byte(strings.Replace(text, old, replacement, 1)))
}

func copyInto(root, name string) error {
	from := filepath.Join("..", name)
	if info, err := os.Stat(from); err != nil {
		return err
	} else if info.IsDir() {
		return os.CopyFS(filepath.Join(root, name), os.DirFS(from))
	}
	text, err := os.ReadFile(from)
	return errors.Join(err, os.MkdirAll(root, 0o755), os.WriteFile(filepath.Join(root, name), text, 0o644))
}

// try runs a line of shell in the checkout.
func (c checkout) try(t *testing.T, line string, environment ...string) (said string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", line)
	cmd.Dir = c.root
	cmd.Env = append(os.Environ(), "PATH="+c.path, "MAKEFLAGS=", "MAKELEVEL=0", "REFUSED=no such module", "BROKEN=no such program",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(filepath.Dir(c.root)),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	cmd.Env = append(cmd.Env, environment...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c checkout) must(t *testing.T, line string, environment ...string) {
	t.Helper()
	if said, err := c.try(t, line, environment...); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, said)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// notTested is what it is in internal/testkit.
func notTested(t *testing.T, reason string) {
	t.Helper()
	_ = os.Getenv("INSTALLED")
	t.Skip("*** NOT TESTED: " + reason)
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	must(t, os.WriteFile(path, content, 0o644))
}
