//go:build unix

package bench

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/simulator/command"
)

var clusters = flag.String("clusters", "1000/3000", "nodes and pods of examples/cluster, for BenchmarkWhatIf, separated by commas")

// asSimulator, if it is set, makes a simulator of this program.
const asSimulator = "BENCH_AS_SIMULATOR"

func TestMain(m *testing.M) {
	if os.Getenv(asSimulator) != "" {
		command.Main()
	}
	os.Exit(m.Run())
}

// BenchmarkWhatIf runs the simulator's commands, each in a process of its own, and in this process the
// engine on all pods, which shows kube-scheduler's own share.
func BenchmarkWhatIf(b *testing.B) {
	for size := range strings.SplitSeq(*clusters, ",") {
		b.Run("cluster="+strings.Replace(size, "/", "-nodes-", 1)+"-pods", func(b *testing.B) {
			file := writeCluster(b, size)
			in := "../examples/cluster/"
			ask(b, "compare", "--cluster", file, "--pods", "all", "--a", in+"least.yaml", "--b", in+"most.yaml", "--accept-unplaced")
			ask(b, "fit", "--cluster", file, "-f", in+"fits.yaml")
			for line := range strings.Lines(ask(b, "shrink", "--cluster", file)) {
				if found, ok := strings.CutPrefix(line, "simulator drain "); ok {
					ask(b, "drain", strings.Fields(found)...)
				}
			}
			// Last: Linux counts what this process has at the start of another as that one's memory.
			b.Run("SchedulePod", func(b *testing.B) { scheduleAll(b, file) })
		})
	}
}

func writeCluster(b *testing.B, size string) string {
	nodes, pods, _ := strings.Cut(size, "/")
	file := filepath.Join(b.TempDir(), "cluster.json")
	text, err := exec.CommandContext(b.Context(), "awk", "-f", "../examples/cluster/cluster.awk", "-v", "nodes="+nodes, "-v", "pods="+pods).Output()
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	testkit.Must(b, err)
	return file
}

// ask runs a command of the simulator, and returns its output. Status 1, for pods that are unschedulable, is no error.
func ask(b *testing.B, question string, args ...string) (printed string) {
	b.Run(question, func(b *testing.B) {
		for b.Loop() {
			var out, errOut bytes.Buffer
			cmd := exec.CommandContext(b.Context(), os.Args[0], append([]string{question, "-q"}, args...)...)
			cmd.Env = append(os.Environ(), asSimulator+"=yes")
			cmd.Stdout, cmd.Stderr = &out, &errOut
			err := cmd.Run()
			if err != nil && cmd.ProcessState.ExitCode() != 1 {
				b.Fatalf("%v: %s", err, &errOut)
			}
			used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			b.ReportMetric((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), "cpu-s/op")
			b.ReportMetric(float64(used.Maxrss)/kilobytes, "MB")
			printed = out.String()
		}
	})
	return printed
}

// kilobytes in a megabyte.
const kilobytes = 1024

// scheduleAll reschedules all pods from scratch, without a recorder.
func scheduleAll(b *testing.B, file string) {
	for b.Loop() {
		e := pendingCluster(b, file)
		var inside time.Duration
		e.Scheduler.SchedulePod = timed(e.Scheduler.SchedulePod, &inside)
		before := cpuTime()
		testkit.Must(b, e.Run(b.Context()))
		b.ReportMetric(inside.Seconds(), "SchedulePod-s/op")
		b.ReportMetric((cpuTime() - before).Seconds(), "cpu-s/op")
		e.Close()
	}
}

func timed(next hooks.SchedulePod, inside *time.Duration) hooks.SchedulePod {
	return func(ctx context.Context, of framework.Framework, state fwk.CycleState, pod *hooks.Queued) (kubescheduler.ScheduleResult, error) {
		began := time.Now()
		defer func() { *inside += time.Since(began) }()
		return next(ctx, of, state, pod)
	}
}

func pendingCluster(b *testing.B, path string) *engine.Engine {
	file, err := os.Open(path)
	testkit.Must(b, err)
	defer file.Close()
	s, _, err := snapshot.Read(file)
	testkit.Must(b, err)
	for i := range s.Pods {
		s.Pods[i].Spec.NodeName = ""
	}
	config, err := scheduler.Read([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"))
	testkit.Must(b, err)
	e, err := engine.New(b.Context(), engine.Options{Config: config, Cluster: s, Seed: 1})
	testkit.Must(b, err)
	return e
}
