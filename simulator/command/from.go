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
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"wasmkwokwizardry.io/regex-scheduling/internal/atomicfile"
	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/snapshot/anonymize"
	"wasmkwokwizardry.io/regex-scheduling/snapshot/capture"
)

// readSnapshot reads a file with a cluster. The notices are what of it is left out.
func readSnapshot(ctx context.Context, path string, max maxSize) (*snapshot.Snapshot, []snapshot.Notice, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	return snapshot.ReadWithin(ctx, file, max.Value())
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
				return errors.New("which cluster? Give the kubeconfig of one that you may read: --kubeconfig FILE")
			}
			objects, err := readCluster(ctx, o, cmd.ErrOrStderr())
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
	cmd.Flags().StringVarP(&file, "output", "o", "cluster.yaml", "file to write, compressed if it ends in .gz; - is standard output")
	cmd.Flags().BoolVar(&anonymous, "anonymize", false, "replace names and label values, everywhere alike")
	return cmd
}

// readCluster reads a cluster, and shows how far it is: a line for each kind that
// there is any of.
func readCluster(ctx context.Context, o capture.Options, out io.Writer) (*snapshot.Snapshot, error) {
	began, last, some := time.Now(), "", false
	o.Progress = func(kind string, objects int) {
		if some && kind != last {
			fmt.Fprintln(out)
		}
		if last, some = kind, objects > 0; some {
			fmt.Fprintf(out, "\r%5.1fs  %s: %d", time.Since(began).Seconds(), kind, objects)
		}
	}
	objects, err := capture.Read(ctx, o)
	if some {
		fmt.Fprintln(out)
	}
	return objects, err
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
