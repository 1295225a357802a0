package command

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"wasmkwokwizardry.io/regex-scheduling/internal/atomicfile"
	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/anonymize"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/capture"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/digest"
)

func newSnapshot() *cobra.Command {
	var o capture.Options
	var file string
	var anonymous bool
	cmd := &cobra.Command{
		Use:   "snapshot --kubeconfig FILE",
		Short: "Save a real cluster to a file, to simulate it",
		Long: `Save what scheduling depends on in a real cluster to a file: nodes, pods, volumes, workloads and more, but no
Secrets. Variables, commands and the like become digests. The cluster is only read. The file is for --from, and for --cluster of other commands.`,
		Example: `  # Save a cluster, and start a simulator with a copy of it
  simulator snapshot --kubeconfig ~/.kube/config --to cluster.yaml.gz
  simulator --from cluster.yaml.gz

  # Save it with other names, to show it to others
  simulator snapshot --kubeconfig ~/.kube/config --anonymize`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Kubeconfig == "" {
				return cli.Usage(errors.New("--kubeconfig is missing: give the kubeconfig of a cluster that you may read"))
			}
			objects, err := readCluster(cmd.Context(), o, progressOf(cmd))
			if err != nil {
				return err
			}
			if err := digest.Snapshot(objects, o.Annotations); err != nil {
				return err
			}
			if anonymous {
				anonymize.Snapshot(objects, o.Annotations)
			}
			list(cmd.ErrOrStderr(), "note", objects.Source.Notes)
			return write(objects, file, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags(), "real cluster; it is only read")
	cmd.Flags().StringVar(&file, "to", "cluster.yaml", "file to write, compressed if its name ends in .gz; - is standard output")
	cmd.Flags().BoolVar(&anonymous, "anonymize", false, "replace names and label values, the same ones everywhere")
	quietFlag(cmd.Flags())
	return cmd
}

// readCluster reads a cluster, and shows how far it is.
func readCluster(ctx context.Context, o capture.Options, progress *printer) (*snapshot.Snapshot, error) {
	defer progress.end()
	o.Progress = func(kind string, objects int) {
		if objects > 0 {
			progress.step("reads "+kind, objects, 0)
		}
	}
	return capture.Read(ctx, o)
}

// write writes a snapshot to a file, all of it or nothing.
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
	printable.Fprintf(errOut, "%s: %s, %d nodes, %d pods, %d objects\n", file, s.Source, len(s.Nodes), len(s.Pods), s.Objects())
	return nil
}

func list(out io.Writer, word string, notices []snapshot.Notice) {
	for _, notice := range notices {
		printable.Fprintf(out, "         %s: %s\n", word, notice)
	}
}

// maxSize is the flag of how large the file of a cluster may be.
type maxSize struct{ cli.Bytes }

func (m *maxSize) add(flags *pflag.FlagSet) {
	m.Quantity = *resource.NewQuantity(snapshot.DefaultMaxSize, resource.BinarySI)
	flags.Var(m, "max-size", "maximum size of the cluster's file, uncompressed")
}

// readSnapshot reads the file of a cluster, a folder of files, or stdin for -. The notices say
// what is skipped.
func readSnapshot(ctx context.Context, stdin io.Reader, path string, limit maxSize) (*snapshot.Snapshot, []snapshot.Notice, error) {
	file, err := snapshot.Open(path, stdin)
	if err != nil {
		return nil, nil, err
	}
	if file.Closer != nil {
		defer file.Close()
	}
	s, notices, err := snapshot.ReadWithin(ctx, limit.Value(), file)
	if err != nil {
		return nil, nil, err
	}
	s.Source.File = filepath.Base(path)
	if path == "-" {
		s.Source.File = "standard input"
	}
	return s, notices, nil
}
