package extender

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/pki"
)

func TestExtenderKeepsItsCertificateIfTheNewOneIsInvalid(t *testing.T) {
	authority, dir := pki.New(t), t.TempDir()
	files := TLS{CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"), ClientCAFile: filepath.Join(dir, "ca.crt")}
	write := func(path, text string) { testkit.Must(t, os.WriteFile(path, []byte(text), 0o600)) }
	for want, spoil := range map[string]func(){
		"expired on ":    func() { authority.Issue(t, files.CertFile, files.KeyFile, -time.Minute) },
		"does not match": func() { authority.Issue(t, files.CertFile, filepath.Join(dir, "other.key"), time.Hour) },
		"certificate " + files.CertFile + " with key " + files.KeyFile + ": ": func() { write(files.KeyFile, "") },
		"ca.crt: it has no PEM certificate":                                   func() { write(files.ClientCAFile, "x") },
		"tls.key: no such file":                                               func() { testkit.Must(t, os.Remove(files.KeyFile)) },
	} {
		var failed error
		source := certificates{files: files, failed: func(err error) { failed = err }}
		_ = os.Remove(files.CertFile)
		good := authority.Issue(t, files.CertFile, files.KeyFile, time.Hour)
		ca := testkit.ReadFile(t, authority.File)
		write(files.ClientCAFile, string(ca))
		testkit.Must(t, source.load())
		spoil()
		_, _ = source.get(nil)
		testkit.ErrorHas(t, failed, want)
		if !source.notAfter().Equal(good.NotAfter) {
			t.Errorf("%s: it is not the old certificate", want)
		}
	}
}
