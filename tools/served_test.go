package tools

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestModuleIsServedWhenWhatItImportsCanBeListed(t *testing.T) {
	const imports = "package p\n\nimport _ \"example.com/needed\"\n"
	for name, test := range map[string]struct{ module, source, printed, said string }{
		"a module that needs nothing": {"", "package p\n", "DIR\n", ""},
		"what it imports cannot be downloaded": {
			"require example.com/needed v1.0.0\n", imports, "", "*** NOT CHECKED: DIR/: cannot be had here: ",
		},
		"go.mod lacks a line, which is no question of what is served": {
			"require example.com/other v1.0.0\n", "package p\n\nimport _ \"example.com/other\"\n", "DIR\n", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeModule(t, dir, "m", test.module+
				"replace example.com/other => ./other\nreplace example.com/third => ./third\n", test.source)
			writeModule(t, dir+"/other", "other", "require example.com/third v1.0.0\n",
				"package other\n\nimport _ \"example.com/third\"\n")
			writeModule(t, dir+"/third", "third", "", "package third\n")
			printed, said, err := offline("./served.sh", dir)
			fill := strings.NewReplacer("DIR", dir)
			if err != nil || printed != fill.Replace(test.printed) || !strings.HasPrefix(said, fill.Replace(test.said)) {
				t.Errorf("error %v, printed %q, said %q", err, printed, said)
			}
		})
	}
}

func TestMinorOfKubernetesIsServedWhenItsModuleFileIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "1.99.mod")
	write(t, file, []byte("module example.com/m\n\ngo 1.26\n\nrequire k8s.io/kubernetes v1.99.0\n"))
	printed, said, err := offline("./served.sh", file)
	want := "*** NOT CHECKED: " + file + ": cannot be had here: "
	if err != nil || len(printed) > 0 || !strings.HasPrefix(said, want) {
		t.Errorf("error %v, printed %q, said %q", err, printed, said)
	}
}

// offline runs a script where no module can be downloaded.
func offline(script string, args ...string) (printed, said string, err error) {
	command := exec.Command(script, args...)
	command.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	var stderr strings.Builder
	command.Stderr = &stderr
	stdout, err := command.Output()
	return string(stdout), stderr.String(), err
}

// writeModule makes example.com/NAME, a module with one package.
func writeModule(t *testing.T, dir, name, module, source string) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o755))
	write(t, filepath.Join(dir, "go.mod"), []byte("module example.com/"+name+"\n\ngo 1.26\n\n"+module))
	write(t, filepath.Join(dir, "p.go"), []byte(source))
}

func TestVersionThatIsNotServedIsSkippedLoudly(t *testing.T) {
	for version, want := range map[string]string{
		"v1.999.0-rc.0": "*** NOT CHECKED: Kubernetes v1.999.0-rc.0: cannot be had here: k8s.io/kubernetes@v1.999.0-rc.0\n",
		"v1.999":        "*** NOT CHECKED: Kubernetes v1.999: cannot be had here: ",
		"1.38":          "next: '1.38' is no version of Kubernetes; write make test-next NEXT=v1.38, or NEXT=v1.38.0-rc.0\n",
	} {
		printed, said, err := offline("./next.sh", version, "1.37")
		if (err == nil) != (version[0] == 'v') || len(printed) > 0 || !strings.HasPrefix(said, want) {
			t.Errorf("%s: %v, printed %q, said %q", version, err, printed, said)
		}
	}
}

func TestModulesThatANewVersionNeedsAndThatAreRefusedAreNamed(t *testing.T) {
	const version = "v1.999.0-beta.0"
	dir := t.TempDir()
	served := filepath.Join(dir, "k8s.io/kubernetes/@v")
	must(t, os.MkdirAll(served, 0o755))
	gomod := []byte("module k8s.io/kubernetes\n\ngo 1.26\n")
	var packed bytes.Buffer
	zipped := zip.NewWriter(&packed)
	file, err := zipped.Create("k8s.io/kubernetes@" + version + "/go.mod")
	must(t, err)
	_, err = file.Write(gomod)
	must(t, err)
	must(t, zipped.Close())
	write(t, filepath.Join(served, "list"), []byte(version+"\n"))
	write(t, filepath.Join(served, version+".info"), []byte(`{"Version": "`+version+`"}`))
	write(t, filepath.Join(served, version+".mod"), gomod)
	write(t, filepath.Join(served, version+".zip"), packed.Bytes())

	command := exec.Command("./next.sh", "v1.999", "1.37")
	command.Env = append(os.Environ(), "GOPROXY=file://"+dir, "GONOSUMDB=*", "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw")
	said, err := command.CombinedOutput()
	if err != nil || !regexp.MustCompile(`^\*\*\* NOT CHECKED: Kubernetes v1\.999: cannot be had here:( \S+@v\S+)+\n$`).Match(said) {
		t.Errorf("%v, said %q", err, said)
	}
}
