package simulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Names in a data directory.
const (
	// keptFile is the scheduler's configuration that was applied last.
	keptFile = "scheduler-config.yaml"
	// formerFile is the one that was kept when another was given at a start.
	formerFile = "scheduler-config.old.yaml"
)

// firstScheduler starts the scheduler with the configuration that was kept, or
// else with the given one. One that can be used no more is no reason not to
// start: the page is where it is mended.
func (s *Simulator) firstScheduler(ctx context.Context, cfg Config) error {
	s.applying.Lock()
	defer s.applying.Unlock()
	given := "door " + cfg.Door
	if cfg.SchedulerConfig != nil {
		given = "the given configuration"
	}
	kept, err := s.readKept()
	if cfg.Resume && kept != nil {
		cfg.Progress("kube-scheduler with the configuration kept in " + s.keptPath())
		if err = s.apply(ctx, kept); err == nil {
			s.initial = kept
			return nil
		}
		if ctx.Err() != nil || s.running.Err() != nil {
			return fmt.Errorf("%s: %w", s.keptPath(), err)
		}
	}
	cfg.Progress("kube-scheduler with " + given)
	if cfg.Resume && err != nil {
		s.warnings.say("the kept configuration %s cannot be used: %v; %s runs instead: mend the file or remove it, and start again, "+
			"or apply another, which then takes its place", s.keptPath(), err, given)
		return s.apply(ctx, s.initial)
	}
	if err := s.apply(ctx, s.initial); err != nil {
		return err
	}
	if kept != nil && !bytes.Equal(kept, s.initial) {
		former := filepath.Join(s.dataDir, formerFile)
		if err := os.Rename(s.keptPath(), former); err != nil {
			s.warnings.say("%s is not the configuration that is kept: %v", given, err)
			return nil
		}
		cfg.Progress(given + " takes the place of the configuration that was kept, which is now in " + former)
	}
	s.keep(s.initial)
	return nil
}

func (s *Simulator) keptPath() string { return filepath.Join(s.dataDir, keptFile) }

// readKept returns the kept configuration, or nil if there is none.
func (s *Simulator) readKept() ([]byte, error) {
	if s.dataDir == "" {
		return nil, nil
	}
	kept, err := os.ReadFile(s.keptPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(bytes.TrimSpace(kept)) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, err
	}
	return kept, nil
}

// keep writes the configuration down for the next start, if there is to be one.
func (s *Simulator) keep(config []byte) {
	if s.dataDir == "" {
		return
	}
	next := s.keptPath() + ".new" // so that there is always a whole one
	err := os.WriteFile(next, config, 0o600)
	if err == nil {
		err = os.Rename(next, s.keptPath())
	}
	if err != nil {
		s.warnings.say("the configuration is in use, but not kept for the next start: %v", err)
	}
}
