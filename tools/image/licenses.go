package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing/fstest"
)

// licenses are the licenses and notices of a program: ours, Go's, and those of the modules that it
// is made of, from where go build had them.
func licenses(info *debug.BuildInfo) (fstest.MapFS, error) {
	out, err := exec.Command("go", "env", "GOMOD", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	env := strings.Split(string(out), "\n")
	folders := map[string]string{
		"licenses/regex-scheduling": filepath.Join(filepath.Dir(env[0]), ".."),
		"licenses/go":               env[1],
	}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		if module.Sum != "" { // or it is a folder of ours
			folders["licenses/"+module.Path] = filepath.Join(env[2], escaped(module.Path)+"@"+module.Version)
		}
	}
	files := fstest.MapFS{}
	for name, folder := range folders {
		for _, pattern := range []string{"LICEN[CS]E*", "COPYING*", "NOTICE*"} {
			found, err := filepath.Glob(filepath.Join(folder, pattern))
			if err != nil {
				return nil, err
			}
			for _, text := range found {
				content, err := os.ReadFile(text)
				if err == nil { // a folder of that name is none
					files[name+"/"+filepath.Base(text)] = file(0o644, content)
				}
			}
		}
		for ; name != "."; name = path.Dir(name) { // else they are 0555, which not everybody can unpack into
			files[name] = dir(0o755)
		}
	}
	return files, nil
}

// escaped is the name of a module's folder in the module cache.
func escaped(path string) string {
	return regexp.MustCompile("[A-Z]").ReplaceAllStringFunc(path, func(letter string) string { return "!" + strings.ToLower(letter) })
}
