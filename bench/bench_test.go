package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// Further flags of the test binary.
var (
	rounds = flag.Int("rounds", 1, "how many rounds of turns the doors take; where one takes long, fewer")
	nodes  = numbers{100, 1000, 5000}
	pods   = flag.Int("pods", 2000, "pods of a whole scheduler")
	guests = flag.String("guests", "", "further guests to measure: .wasm files, separated by commas")
)

func init() {
	flag.Var(&nodes, "nodes", "sizes of the clusters, separated by commas")
	klog.SetLogger(logr.Discard()) // what guests and schedulers say is not measured
}

// numbers is a flag.
type numbers []int

// String implements flag.Value.
func (n *numbers) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*n), " ", ","), "[]")
}

// Set implements flag.Value.
func (n *numbers) Set(list string) error {
	*n = nil
	for text := range strings.SplitSeq(list, ",") {
		number, err := strconv.Atoi(text)
		if err != nil || number < 1 {
			return fmt.Errorf("%q is no number above 0", text)
		}
		*n = append(*n, number)
	}
	return nil
}

// usual is the size of a cluster where one is enough.
func usual() int {
	if slices.Contains(nodes, 1000) {
		return 1000
	}
	return nodes[0]
}

// worthAScheduler are the sizes that a whole scheduler is measured with.
func worthAScheduler() []int {
	if big := slices.DeleteFunc(slices.Clone(nodes), func(n int) bool { return n < 1000 }); len(big) > 0 {
		return big
	}
	return nodes
}

// inTurns runs a sub-benchmark for each door in each round, each round from
// another door on.
func inTurns(b *testing.B, rounds int, what string, doors []*door, measure func(b *testing.B, d *door)) {
	tell := sync.OnceFunc(func() { fmt.Fprintf(os.Stderr, "%s/%s\n", b.Name(), what) }) // stdout is for the numbers
	for round := range max(1, rounds) {
		for i := range doors {
			d := doors[(i+round)%len(doors)]
			b.Run(fmt.Sprintf("%s/door=%s/round=%d", what, d.name, round), func(b *testing.B) {
				tell()
				measure(b, d)
			})
		}
	}
}

func TestEveryDoorIsMeasured(t *testing.T) {
	command := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=.", "-test.benchtime=1x", "-nodes=40", "-pods=40")
	var stderr strings.Builder
	command.Stderr = &stderr
	stdout, err := command.Output()
	t.Logf("%s", stdout)
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	for _, d := range allDoors(t) {
		for name, units := range map[string][]string{
			"Cycle/case=prefix/nodes=40":  {"ns/op", "cpu-ns/op", "B/op", "allocs/op"},
			"Cycle/case=invalid/nodes=40": {"cpu-ns/op"},
			"Scheduler/case=all/nodes=40": {" 0 pods-left", "pods/s", "p50-ns", "p90-ns", "p99-ns"},
		} {
			if strings.HasPrefix(name, "Cycle") && d.open == nil || strings.HasPrefix(name, "Scheduler") && d.serve == nil {
				continue
			}
			_, line, _ := strings.Cut(string(stdout), "Benchmark"+name+"/door="+d.name+"/round=0")
			line, _, _ = strings.Cut(line, "\n")
			for _, unit := range units {
				if !strings.Contains(line, unit) {
					t.Errorf("%s, %s: no %s: %q", name, d.name, unit, line)
				}
			}
		}
	}
}
