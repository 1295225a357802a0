package command

import (
	"bytes"
	"context"
	"crypto/sha256"
	"os"
	"time"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/config"
)

// lookEvery is how often the files are looked at. It works for every file system
// and however a file is changed, and reading a few kilobytes costs nothing.
const lookEvery = time.Second

// program is a running extender and where its configuration comes from.
type program struct {
	path     string // of the file, or empty
	flags    config.Flags
	logger   logr.Logger
	extender *extender.Extender
}

// maintain reads the files again when their contents have changed, and on every
// hangup, until ctx is done. Files that change are left to settle: certificate
// and key are rarely written in the same instant.
func (p *program) maintain(ctx context.Context, hangup <-chan os.Signal) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var used, last [sha256.Size]byte // nothing yet: they may have changed since they were read
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			p.logger.Info("Hangup: reading the files again")
			p.reload(true)
		case <-tick.C:
			now := digest(p.paths())
			if now == last && now != used {
				used = now
				p.reload(false)
			}
			last = now
		}
	}
}

// digest stands for the contents of all files; a missing file has one too.
func digest(paths []string) [sha256.Size]byte {
	all := sha256.New()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		one := sha256.Sum256(data)
		if err != nil {
			one = [sha256.Size]byte{}
		}
		all.Write(one[:])
	}
	return [sha256.Size]byte(all.Sum(nil))
}

func (p *program) paths() []string {
	tls := p.extender.Config().TLS
	return []string{p.path, tls.CertFile, tls.KeyFile, tls.ClientCAFile}
}

// reload reads configuration and certificates again. Algorithms begin anew only
// if the configuration is another, or if always is set.
func (p *program) reload(always bool) {
	p.reloadConfig(always)
	if p.extender.Config().TLS.Enabled() {
		if err := p.extender.ReloadCertificates(); err != nil {
			p.logger.Error(err, "The new certificates are refused, the old ones go on")
		}
	}
}

func (p *program) reloadConfig(always bool) {
	next, err := config.Load(p.path, p.flags)
	if err == nil {
		if !always && same(next, p.extender.Config()) {
			return
		}
		err = p.extender.Reload(next)
	} else {
		p.extender.CountRefusedConfig(err)
	}
	if err != nil {
		p.logger.Error(err, "The new configuration is refused, the old one goes on", "file", p.path)
		return
	}
	p.logger.Info("A new configuration is in use", "file", p.path)
}

func same(a, b *config.Config) bool {
	x, errX := a.YAML()
	y, errY := b.YAML()
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
