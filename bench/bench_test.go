package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
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
	nodes       = numbers{1000, 5000}
	pods        = flag.Int("pods", 1000, "pods of a whole scheduler")
	pending     = flag.Int("pending", 10_000, "pending pods of different patterns, for BenchmarkHints")
	guests      = flag.String("guests", "", "further guests to measure: .wasm files, separated by commas")
)

func init() {
	flag.Var(&nodes, "nodes", "sizes of the clusters, separated by commas")
	klog.SetLogger(logr.Discard()) // logs of guests and schedulers are not measured
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

// inTurns runs a sub-benchmark for each variant in each round. Each round starts with
// another variant. Slow variants have a turn in every fourth round.
func inTurns(b *testing.B, rounds int, what string, variants []*variant, measure func(b *testing.B, d *variant)) {
	tell := sync.OnceFunc(func() { fmt.Fprintf(os.Stderr, "%s/%s\n", b.Name(), what) }) // stdout is for the numbers
	for round := range max(1, rounds) {
		for i := range variants {
			d := variants[(i+round)%len(variants)]
			if d.long() && round%4 != 0 {
				continue
			}
			b.Run(fmt.Sprintf("%s/plugin=%s/round=%d", what, d.name, round), func(b *testing.B) {
				tell()
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
		for name, units := range map[string][]string{
			"Cycle/case=prefix/nodes=40":  {"ns/op", "cpu-ns/op", "B/op", "allocs/op"},
			"Cycle/case=none/nodes=40":    {"cpu-ns/op"},
			"Scheduler/case=all/nodes=40": {" 0 pods-left", "pods/s", "cpu-ns/pod", "p50-ns", "p90-ns", "p99-ns"},
		} {
			if strings.HasPrefix(name, "Cycle") && d.open == nil || strings.HasPrefix(name, "Scheduler") && d.serve == nil {
				continue
			}
			tellsUnits(t, string(stdout), name+"/plugin="+d.name, units...)
		}
	}
	for _, name := range []string{"Scheduler/case=new/nodes=40/plugin=none", "Naming/case=0.3/nodes=40/plugin=named", "Naming/case=0.9/nodes=40/plugin=looked-at"} {
		tellsUnits(t, string(stdout), name, " 0 pods-left", "pods/s")
	}
	for _, question := range []string{"compare", "fit", "shrink"} {
		if found, _ := regexp.MatchString(`BenchmarkWhatIf/cluster=40-nodes-120-pods/`+question+`.* MB\s.* cpu-s/op`, string(stdout)); !found {
			t.Errorf("%s is not measured", question)
		}
	}
	tellsUnits(t, string(stdout), "Cycle/case=new/nodes=40/plugin=v2", "cpu-ns/op")
	tellsUnits(t, string(stdout), "Cycle/case=most/nodes=40/plugin=v2-asked", "cpu-ns/op")
	tellsUnits(t, string(stdout), "Scheduler/case=all/nodes=40/plugin=v2", "tries", "heartbeats/s")
	tellsUnits(t, string(stdout), "Hints/case=40/nodes=100/plugin=v2", " 0 woken/op", "locked-ns/op")
}

func tellsUnits(t *testing.T, stdout, name string, units ...string) {
	t.Helper()
	_, line, _ := strings.Cut(stdout, "Benchmark"+name+"/round=0")
	line, _, _ = strings.Cut(line, "\n")
	for _, unit := range units {
		if !strings.Contains(line, unit) {
			t.Errorf("%s: no %s: %q", name, unit, line)
		}
	}
}
