package simulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"wasmkwokwizardry.io/regex-scheduling/internal/atomicfile"
)

// Names in a data directory.
const (
	savedFile = "scheduler-config.yaml"
	// formerFile is the one that was saved when another was given at a start.
	formerFile = "scheduler-config.old.yaml"
)

type savedConfig struct {
	path     string // empty: nothing is saved
	warnings *warnings
}

// firstScheduler starts the scheduler with the configuration that was saved, or
// else with the given one. One that can be used no more is no reason not to
// start: the page is where it is mended.
func (s *Simulator) firstScheduler(ctx context.Context, cfg Config) error {
	// The scheduler has the rights that it has in any cluster.
	s.kubeconfig = filepath.Join(s.DataDir(), "scheduler.kubeconfig")
	if err := s.WriteKubeconfig(s.kubeconfig, "system:kube-scheduler"); err != nil {
		return err
	}
	s.applying.Lock()
	defer s.applying.Unlock()
	saved, err := s.saved.read()
	if cfg.Resume && saved != nil {
		cfg.Progress("kube-scheduler with the configuration kept in " + s.saved.path)
		if err = s.apply(ctx, saved); err == nil {
			s.baseline.config = saved
			return nil
		}
		if ctx.Err() != nil || s.running.Err() != nil {
			return fmt.Errorf("%s: %w", s.saved.path, err)
		}
	}
	cfg.Progress("kube-scheduler with " + cfg.configName)
	if cfg.Resume && err != nil {
		s.warnings.say("the kept configuration %s cannot be used: %v; %s runs instead: mend the file or remove it, and start again, "+
			"or apply another, which then takes its place", s.saved.path, err, cfg.configName)
		return s.apply(ctx, cfg.SchedulerConfig)
	}
	if err := s.apply(ctx, cfg.SchedulerConfig); err != nil {
		return err
	}
	if saved != nil && !bytes.Equal(saved, cfg.SchedulerConfig) {
		former := filepath.Join(cfg.DataDir, formerFile)
		if err := os.Rename(s.saved.path, former); err != nil {
			s.warnings.say("%s is not the configuration that is kept: %v", cfg.configName, err)
			return nil
		}
		cfg.Progress(cfg.configName + " takes the place of the configuration that was kept, which is now in " + former)
	}
	s.saved.write(cfg.SchedulerConfig)
	return nil
}

// read returns the saved configuration, or nil if there is none.
func (s savedConfig) read() ([]byte, error) {
	config, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(bytes.TrimSpace(config)) == 0 {
		return nil, errors.New("it is empty")
	}
	return config, err
}

// write saves the configuration for the next start, if there is to be one.
func (s savedConfig) write(config []byte) {
	if s.path == "" {
		return
	}
	if err := atomicfile.WriteBytes(s.path, config); err != nil {
		s.warnings.say("the configuration is in use, but not kept for the next start: %v", err)
	}
}
