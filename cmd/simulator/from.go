package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// readSnapshot reads a file with a cluster. The notices are what of it is left out.
func readSnapshot(path string) (*snapshot.Snapshot, []snapshot.Notice, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	return snapshot.Read(file)
}

// readFrom reads the file of --from.
func (o *options) readFrom() (objects *snapshot.Snapshot, err error) {
	if objects, o.notices, err = readSnapshot(o.from); errors.Is(err, fs.ErrNotExist) {
		return nil, err // which names it
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", o.from, err)
	}
	if o.objectsOnly {
		objects.SchedulerConfig = nil
	}
	if objects.Source == nil {
		objects.Source = &snapshot.Source{}
	}
	objects.Source.File = filepath.Base(o.from)
	return objects, nil
}

// importFirst begins with a snapshot. What of it cannot be imported is listed, and
// does not keep the rest from being used.
func (o *options) importFirst(ctx context.Context, s *simulator.Simulator, in *snapshot.Snapshot, progress func(done, of int), out io.Writer) error {
	err := s.ImportFirst(ctx, in, progress)
	refused := snapshot.NotImported(nil)
	if err != nil && !errors.As(err, &refused) {
		if o.from != "" {
			err = fmt.Errorf("%s: %w", o.from, err)
		}
		return err
	}
	fmt.Fprintf(out, "         this is %s\n", in.Source)
	list(out, "not imported", refused)
	list(out, "note", o.notices)
	return nil
}

// list writes a line for each notice.
func list(out io.Writer, word string, notices []snapshot.Notice) {
	for _, notice := range notices {
		fmt.Fprintf(out, "         %s: %s\n", word, notice)
	}
}
