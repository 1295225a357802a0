package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// Further flags of the test binary.
var (
	rounds      = flag.Int("rounds", 1, "how many rounds of turns the variants take")
	wholeRounds = flag.Int("whole-rounds", 1, "the same of a whole scheduler, whose turns take seconds")
	nodes       = []int{1000, 5000}
	pods        = flag.Int("pods", 1000, "pods of a whole scheduler")
	pending     = flag.Int("pending", 10_000, "pending pods of different patterns, for BenchmarkHints")
	guests      = flag.String("guests", "", "further guests to measure: .wasm files, separated by commas")
)

func init() {
	flag.Func("nodes", "sizes of the clusters, separated by commas", func(list string) error {
		nodes = nil
		for text := range strings.SplitSeq(list, ",") {
			number, err := strconv.Atoi(text)
			if err != nil || number < 1 {
				return fmt.Errorf("%q is no number above 0", text)
			}
			nodes = append(nodes, number)
		}
		return nil
	})
	klog.SetLogger(logr.Discard()) // logs of guests and schedulers are not measured
}

// inTurns runs a sub-benchmark for each variant in each round. Each round starts with
// another variant. Slow variants have a turn in every fourth round.
func inTurns(b *testing.B, rounds int, what string, variants []*variant, measure func(b *testing.B, d *variant)) {
	announce := sync.OnceFunc(func() { fmt.Fprintf(os.Stderr, "%s/%s\n", b.Name(), what) }) // stdout is for the numbers
	for round := range max(1, rounds) {
		for i := range variants {
			d := variants[(i+round)%len(variants)]
			if d.long() && round%4 != 0 {
				continue
			}
			b.Run(fmt.Sprintf("%s/plugin=%s/round=%d", what, d.name, round), func(b *testing.B) {
				announce()
				measure(b, d)
			})
		}
	}
}

func TestEveryVariantIsMeasured(t *testing.T) {
	if os.Getenv("NIGHTLY") == "" {
		t.Skip("set NIGHTLY=1 to run each benchmark once: make test-nightly")
	}
	command := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=.", "-test.benchtime=1x", "-nodes=40", "-pods=40", "-pending=40", "-clusters=40/120")
	var stderr strings.Builder
	command.Stderr = &stderr
	stdout, err := command.Output()
	t.Logf("%s", stdout)
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	for _, d := range allVariants(t) {
		if d.open != nil {
			reported(t, string(stdout), "Cycle/case=prefix/nodes=40/plugin="+d.name, "cpu-ns/op")
		}
		if d.serve != nil {
			reported(t, string(stdout), "Scheduler/case=all/nodes=40/plugin="+d.name, " 0 pods-left")
		}
	}
	reported(t, string(stdout), "Scheduler/case=decisions/nodes=40/plugin=native-decisions", " 0 pods-left")
	reported(t, string(stdout), "Scheduler/case=limits/nodes=40/plugin=native-shipped", " 0 pods-left")
	reported(t, string(stdout), "Cycle/case=new/nodes=40/plugin=v2", "cpu-ns/op")
	reported(t, string(stdout), "Hints/case=40/nodes=100/plugin=v2", " attempts/op")
	for _, question := range []string{"compare", "fit", "shrink"} {
		if !strings.Contains(string(stdout), "BenchmarkWhatIf/cluster=40-nodes-120-pods/"+question) {
			t.Errorf("%s is not measured", question)
		}
	}
}

func reported(t *testing.T, stdout, name, unit string) {
	t.Helper()
	_, line, _ := strings.Cut(stdout, "Benchmark"+name+"/round=0")
	line, _, _ = strings.Cut(line, "\n")
	if !strings.Contains(line, unit) {
		t.Errorf("%s: no %s: %q", name, unit, line)
	}
}
