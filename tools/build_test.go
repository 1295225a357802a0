package tools

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestBuildSaysHowFarItIsWhereMuchIsCompiled(t *testing.T) {
	const many = `i=0; while [ $i -lt 210 ]; do i=$((i + 1)); echo k8s.io/api/v$i; done`
	for name, test := range map[string]struct {
		goBuild, says string
		fails         bool
	}{
		"nothing is compiled":      {"true", "", false},
		"few packages":             {"echo wasmkwokwizardry.io/regex-scheduling/scheduler", "", false},
		"all packages":             {many, "./cmd/x: compiling up to 300 packages, once\ncompiled 100 of 300 packages\ncompiled 200 of 300 packages\n", false},
		"a package has a mistake":  {"echo a/b; echo '# a/b'; echo 'a/b.go:1:2: undefined: x'; exit 1", "# a/b\na/b.go:1:2: undefined: x\n", true},
		"a module is unavailable":  {"echo 'go: a/b@v1: 403 Forbidden'; exit 1", "go: a/b@v1: 403 Forbidden\n", true},
		"a mistake after the rest": {many + "; echo '# a/b'; exit 1", "packages\n# a/b\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			c := checkout{root: t.TempDir(), path: t.TempDir()}
			for _, name := range []string{"bash", "env", "sh", "wc"} {
				c.link(t, name)
			}
			const list = `[ "$*" != "list -deps -tags t ./cmd/x" ] || { i=0; while [ $i -lt 300 ]; do i=$((i + 1)); echo a; done; exit; }`
			script := "#!/bin/sh\n" + list + "\n" + `[ "$*" = "build -v -tags t -o out ./cmd/x" ] || exit 9` + "\n{ " + test.goBuild + "; } >&2\n"
			must(t, errors.Join(os.CopyFS(c.root+"/tools", os.DirFS(".")), os.WriteFile(c.path+"/go", []byte(script), 0o755)))
			said, err := c.try(t, "tools/build.sh out ./cmd/x -tags t")
			if (err != nil) != test.fails || !strings.HasSuffix(said, test.says) || test.says == "" && said != "" {
				t.Errorf("error %v, said: %s", err, said)
			}
		})
	}
}
