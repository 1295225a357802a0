package extender

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/pki"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsNoGoodIsRefusedAndTheOldStays(t *testing.T) {
	authority, dir := pki.New(t), t.TempDir()
	files := config.TLS{CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"), ClientCAFile: filepath.Join(dir, "ca.crt")}
	write := func(path, text string) { must(t, os.WriteFile(path, []byte(text), 0o600)) }
	for want, spoil := range map[string]func(){
		"expired on ":    func() { authority.Issue(t, files.CertFile, files.KeyFile, -time.Minute) },
		"does not match": func() { authority.Issue(t, files.CertFile, filepath.Join(dir, "other.key"), time.Hour) },
		"certificate " + files.CertFile + " with key " + files.KeyFile + ": ": func() { write(files.KeyFile, "") },
		"ca.crt: it has no PEM certificate":                                   func() { write(files.ClientCAFile, "x") },
		"tls.key: no such file":                                               func() { must(t, os.Remove(files.KeyFile)) },
		"tls.crt: is not a regular file": func() {
			must(t, os.Remove(files.CertFile))
			must(t, os.Mkdir(files.CertFile, 0o700))
		},
	} {
		var source certificates
		_ = os.Remove(files.CertFile)
		good := authority.Issue(t, files.CertFile, files.KeyFile, time.Hour)
		ca, err := os.ReadFile(authority.File)
		must(t, err)
		write(files.ClientCAFile, string(ca))
		must(t, source.load(files))
		spoil()
		if err := source.load(files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if !source.notAfter().Equal(good.NotAfter) {
			t.Errorf("%s: the certificate is another one", want)
		}
	}
}

// TestAChangeShowsHoweverItIsMade behind the links of a ConfigMap or a Secret, as by
// a rename, and in place.
func TestAChangeShowsHoweverItIsMade(t *testing.T) {
	authority, dir := pki.New(t), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"..1", "..2"} {
		must(t, os.Mkdir(in(name), 0o700))
		authority.Issue(t, in(name+"/tls.crt"), in(name+"/tls.key"), time.Hour)
	}
	must(t, os.Symlink("..1", in("..data")))
	files := config.TLS{CertFile: in("..data/tls.crt"), KeyFile: in("..data/tls.key")}
	var source certificates
	must(t, source.load(files))
	loaded := make(chan error)
	go source.watch(t.Context(), files, func(err error) { loaded <- err })
	changed := func(how string) {
		t.Helper()
		select {
		case err := <-loaded:
			if err != nil {
				t.Errorf("%s: %v", how, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: nothing was loaded in a minute", how)
		}
	}
	must(t, os.Symlink("..2", in("..tmp")))
	must(t, os.Rename(in("..tmp"), in("..data")))
	changed("swapped behind links")
	authority.Issue(t, files.CertFile, files.KeyFile, time.Hour)
	changed("renamed over")
	for _, name := range []string{"tls.crt", "tls.key"} {
		text, err := os.ReadFile(in("..1/" + name))
		must(t, err)
		must(t, os.WriteFile(in("..data/"+name), text, 0o600))
	}
	changed("written in place")
}
