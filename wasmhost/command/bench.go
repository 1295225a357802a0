package command

import (
	"context"
	_ "embed" // of nameWasm
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// nameWasm is a guest that fetches the node's name and lets every pod run: what a
// Filter that knows anything of the node cannot do without.
//
//go:embed name.wasm
var nameWasm []byte

func newBench() *cobra.Command {
	var q question
	cmd := &cobra.Command{
		Use:   "bench FILE|URL",
		Short: "Measures a scheduling cycle with a guest: the first question, and the remembered answer",
		Long: "Measures PreFilter and Filter of a guest on one goroutine, and Score as the scheduler calls it, in turns with a guest that only fetches the node's name: " +
			"as they are when its answer is not known, and as they are when it is. Compare the lines with each other: machines differ.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := q.read(given[0]); err != nil {
				return err
			}
			// The host would log that it remembers nothing of a guest.
			lines, err := measure(klog.NewContext(cmd.Context(), logr.Discard()), q)
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 3, ' ', tabwriter.AlignRight)
			fmt.Fprintf(table, "ns for each of %d nodes, median of %d rounds\t±\t\n", len(q.nodes), rounds)
			for _, line := range lines {
				fmt.Fprintf(table, "%s\t%.0f\t%.0f %%\t\n", line.name, line.median(), line.spread())
			}
			return table.Flush()
		},
	}
	q.flags(cmd, "file with the nodes (default: 1,000, node-0 to node-999)")
	return cmd
}

// measured is a guest, and what its cycles took, in ns for each node.
type measured struct {
	name  string
	cycle func()
	took  []float64
}

const rounds = 21

func (m *measured) median() float64 {
	slices.Sort(m.took)
	return m.took[len(m.took)/2]
}

// spread is how far from the median half of the rounds were, in percent.
func (m *measured) spread() float64 {
	quarter := len(m.took) / 4
	return 50 * (m.took[len(m.took)-1-quarter] - m.took[quarter]) / m.median()
}

// measure has the guests take turns, so that what else the machine does hits all.
func measure(ctx context.Context, q question) (lines []*measured, err error) {
	dir, err := os.MkdirTemp("", "guest-")
	if err != nil {
		return nil, err
	}
	host := &wasmhost.Host{}
	defer func() { err = errors.Join(err, host.Close(), os.RemoveAll(dir)) }()
	wasm, err := new(wasmhost.Host).Fetch(ctx, q.args)
	if err != nil {
		return nil, err
	}
	for _, line := range []struct {
		name string
		wasm []byte
		room resource.Quantity // for answers
	}{
		{"first question", wasm, resource.MustParse("1")},
		{"remembered", wasm, resource.Quantity{}},
		{"a guest that only fetches the name", nameWasm, resource.Quantity{}},
	} {
		file := filepath.Join(dir, line.name)
		if err := os.WriteFile(file, line.wasm, 0o600); err != nil {
			return nil, err
		}
		q.args.GuestURL = urlOf(file)
		q.args.AnswersLimit = line.room
		cycle, err := cycleOf(ctx, host, q)
		if err != nil {
			return nil, err
		}
		lines = append(lines, &measured{name: line.name, cycle: cycle})
	}
	for range rounds {
		for _, line := range lines {
			line.took = append(line.took, timePerNode(line.cycle, len(q.nodes)))
		}
	}
	return lines, nil
}

// timePerNode runs cycles for ten milliseconds, after one that does not count.
func timePerNode(cycle func(), nodes int) float64 {
	cycle()
	cycles, began := 0, time.Now()
	for time.Since(began) < 10*time.Millisecond {
		cycle()
		cycles++
	}
	return float64(time.Since(began).Nanoseconds()) / float64(cycles*nodes)
}

// cycleOf is a scheduling cycle with the guest, which also scores all nodes.
func cycleOf(ctx context.Context, host *wasmhost.Host, q question) (func(), error) {
	started, err := host.Start(ctx, pluginName, q.args)
	if err != nil {
		return nil, err
	}
	scheduler, err := schedulerOf(ctx, started, q, printEvents{io.Discard})
	if err != nil {
		return nil, err
	}
	infos, err := scheduler.SnapshotSharedLister().NodeInfos().List()
	return func() {
		state := framework.NewCycleState()
		named, status, _ := scheduler.RunPreFilterPlugins(ctx, state, q.pod)
		if !status.IsSuccess() {
			return
		}
		for _, node := range infos {
			if named.AllNodes() || named.NodeNames.Has(node.Node().Name) {
				scheduler.RunFilterPlugins(ctx, state, q.pod, node)
			}
		}
		if scheduler.HasScorePlugins() && scheduler.RunPreScorePlugins(ctx, state, q.pod, infos).IsSuccess() {
			_, _ = scheduler.RunScorePlugins(ctx, state, q.pod, infos)
		}
	}, err
}
