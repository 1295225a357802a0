package readfile

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestReadingAnyFileEnds(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	testkit.Must(t, syscall.Mkfifo(pipe, 0o600))
	file := filepath.Join(dir, "file")
	testkit.Must(t, os.WriteFile(file, []byte("text"), 0o600))
	for path, want := range map[string]string{
		pipe:        "nothing was written into this pipe",
		dir:         "is a directory",
		"/dev/zero": "more than 1 MiB",
		file + "s":  "no such file",
		file:        "",
		"/dev/null": "",
	} {
		_, err := All(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

func TestKubeconfigIsNoPipeAndHasAnEnd(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	testkit.Must(t, syscall.Mkfifo(pipe, 0o600))
	large := filepath.Join(dir, "large")
	testkit.Must(t, os.WriteFile(large, nil, 0o600))
	testkit.Must(t, os.Truncate(large, maxSize+1))
	open, _, err := os.Pipe()
	testkit.Must(t, err)
	defer open.Close()
	kubeconfig := func(cluster, user string) string {
		file := filepath.Join(dir, "kubeconfig "+cluster+user)
		text := "clusters: [{name: c, cluster: {" + cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n"
		testkit.Must(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	for path, want := range map[string]string{
		kubeconfig("certificate-authority: pipe", ""):    "certificate-authority of cluster c: " + pipe + ": it is a pipe: give a file",
		kubeconfig("", "tokenFile: pipe"):                "tokenFile of user u: " + pipe + ": it is a pipe: give a file",
		kubeconfig("", "client-certificate: pipe"):       "client-certificate of user u: " + pipe + ": it is a pipe: give a file",
		kubeconfig("certificate-authority: missing", ""): "",
		pipe: "it is a pipe: give a file", "/dev/zero": "more than 1 MiB", large: "more than 1024 MiB",
		"/dev/null": "", dir + "/missing": "", "/proc/self/fd/" + strconv.Itoa(int(open.Fd())): "",
	} {
		err := Kubeconfig("", path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

// As of a shell's <(command).
func TestPipeIsReadToItsEnd(t *testing.T) {
	r, w, err := os.Pipe()
	testkit.Must(t, err)
	defer r.Close()
	go func() {
		_, _ = w.WriteString("text")
		w.Close()
	}()
	text, err := All("/proc/self/fd/" + strconv.Itoa(int(r.Fd())))
	if err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
}
