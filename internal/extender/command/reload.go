package command

import (
	"bytes"
	"context"
	"os"
	"slices"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/watch"
)

// program is a running extender and where its configuration comes from.
type program struct {
	path     string // of the file, or empty
	flags    *config.Flags
	logger   logr.Logger
	extender *extender.Extender
}

// maintain reads the files again when they change and on every hangup, until
// ctx is done.
func (p *program) maintain(ctx context.Context, hangup <-chan os.Signal) {
	for ctx.Err() == nil {
		p.watch(ctx, hangup)
	}
}

// watch returns when other files are to be watched, or ctx is done.
func (p *program) watch(ctx context.Context, hangup <-chan os.Signal) {
	ctx, cancel := context.WithCancel(ctx)
	paths := p.paths()
	changes := make(chan struct{}, 1)
	note := func() {
		select {
		case changes <- struct{}{}:
		default: // one is waiting already
		}
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		w := watch.Watcher{Paths: paths, Changed: note, Logger: p.logger}
		w.Run(ctx, note) // something may have changed before it was watched
	}()
	defer func() { cancel(); <-watched }()
	for slices.Equal(paths, p.paths()) {
		select {
		case <-ctx.Done():
			return
		case <-changes:
			p.reload(false)
		case <-hangup:
			p.logger.Info("Hangup: reading the files again")
			p.reload(true)
		}
	}
}

func (p *program) paths() []string {
	var paths []string
	if p.path != "" {
		paths = append(paths, p.path)
	}
	if tls := p.extender.Config().TLS; tls.Enabled() {
		paths = append(paths, tls.CertFile, tls.KeyFile)
		if tls.ClientCAFile != "" {
			paths = append(paths, tls.ClientCAFile)
		}
	}
	return paths
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
