package command

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"wasmkwokwizardry.io/regex-scheduling/internal/atomicfile"
	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/snapshot/anonymize"
	"wasmkwokwizardry.io/regex-scheduling/snapshot/capture"
)

// outputFlag makes the flag of how a result is written, which has a default.
func outputFlag(flags *pflag.FlagSet, format *string, formats []string, usage string) {
	*format = "table"
	flags.VarP(cli.OneOf(format, formats...), "output", "o", usage)
}

// readSnapshot reads a file with a cluster. The notices are what of it is left out.
func readSnapshot(ctx context.Context, path string, max maxSize) (*snapshot.Snapshot, []snapshot.Notice, error) {
	file, err := openFile(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	return snapshot.ReadWithin(ctx, file, max.Value())
}

// openFile opens a file, or gives up when ctx is done: a pipe that nobody writes to opens never.
func openFile(ctx context.Context, path string) (*os.File, error) {
	type result struct {
		file *os.File
		err  error
	}
	opened := make(chan result, 1)
	go func() {
		file, err := os.Open(path)
		opened <- result{file, err}
	}()
	select {
	case is := <-opened:
		return is.file, is.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// maxSize is the flag of how large the file of a cluster may be.
type maxSize struct{ resource.QuantityValue }

func (m *maxSize) add(flags *pflag.FlagSet) {
	m.Quantity = *resource.NewQuantity(snapshot.DefaultMaxSize, resource.BinarySI)
	flags.Var(m, "max-size", "most bytes that a cluster's file may have, uncompressed, such as 500Mi")
}

func (o *options) readFrom(ctx context.Context) (objects *snapshot.Snapshot, err error) {
	if objects, o.notices, err = readSnapshot(ctx, o.from, o.maxSize); errors.Is(err, fs.ErrNotExist) {
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

func list(out io.Writer, word string, notices []snapshot.Notice) {
	for _, notice := range notices {
		fmt.Fprintf(out, "         %s: %s\n", word, notice)
	}
}

func newSnapshot() *cobra.Command {
	var o capture.Options
	var file string
	var anonymous bool
	cmd := newCommand("snapshot --kubeconfig FILE",
		"Write down what is in a real cluster, as far as scheduling depends on it, for --from; the cluster is only read",
		func(ctx context.Context, cmd *cobra.Command) error {
			if o.Kubeconfig == "" {
				return cli.Usage(errors.New("which cluster? Give the kubeconfig of one that you may read: --kubeconfig FILE"))
			}
			objects, err := readCluster(ctx, o, progressOf(cmd))
			if err != nil {
				return err
			}
			if anonymous {
				anonymize.Snapshot(objects, o.Annotations)
			}
			list(cmd.ErrOrStderr(), "note", objects.Source.Notes)
			return write(objects, file, cmd.OutOrStdout(), cmd.ErrOrStderr())
		})
	o.AddFlags(cmd.Flags(), "real cluster; it is only read")
	cmd.Flags().StringVar(&file, "to", "cluster.yaml", "file to write, compressed if it ends in .gz; - is standard output")
	quietFlag(cmd.Flags())
	cmd.Flags().BoolVar(&anonymous, "anonymize", false, "replace names and label values, everywhere alike")
	return cmd
}

// readCluster reads a cluster, and shows how far it is.
func readCluster(ctx context.Context, o capture.Options, progress *printer) (*snapshot.Snapshot, error) {
	defer progress.end()
	o.Progress = func(kind string, objects int) {
		if objects > 0 {
			progress.tells("reads "+kind, objects, 0)
		}
	}
	return capture.Read(ctx, o)
}

// write writes a snapshot to a file, all of it or nothing, compressed if it is to be.
func write(s *snapshot.Snapshot, file string, stdout, errOut io.Writer) error {
	if file == "-" {
		return s.WriteYAML(stdout)
	}
	text := s.WriteYAML
	if filepath.Ext(file) == ".gz" {
		text = func(to io.Writer) error {
			compressed := gzip.NewWriter(to)
			return errors.Join(s.WriteYAML(compressed), compressed.Close())
		}
	}
	if err := atomicfile.Write(file, text); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	fmt.Fprintf(errOut, "%s: %s, %d nodes, %d pods, %d objects\n", file, s.Source, len(s.Nodes), len(s.Pods), s.Objects())
	return nil
}
