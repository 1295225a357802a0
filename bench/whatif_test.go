//go:build unix

package bench

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/simulator/command"
)

var clusters = flag.String("clusters", "1000/3000", "nodes and pods of examples/cluster, for BenchmarkWhatIf, separated by commas")

var openb = flag.String("openb", "", "folder with the two files of examples/openb, for BenchmarkWhatIfOnATrace")

// asSimulator, if it is set, makes a simulator of this program.
const asSimulator = "BENCH_AS_SIMULATOR"

func TestMain(m *testing.M) {
	if os.Getenv(asSimulator) != "" {
		command.Main()
	}
	os.Exit(m.Run())
}

// BenchmarkWhatIf runs the simulator's commands, each in a process of its own.
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
		})
	}
}

// BenchmarkWhatIfOnATrace compares configurations on a public trace.
func BenchmarkWhatIfOnATrace(b *testing.B) {
	if *openb == "" {
		b.Skip("OPENB=FOLDER says where the two files are that examples/openb/README.md names")
	}
	in := "../examples/openb/"
	file := write(b, "-F,", "-f", in+"openb.awk", filepath.Join(*openb, "openb_node_list_all_node.csv"), filepath.Join(*openb, "openb_pod_list_default.csv"))
	for _, config := range []string{"eks:MostAllocated", in + "pack-gpus.yaml"} {
		b.Run("b="+filepath.Base(config), func(b *testing.B) {
			ask(b, "compare", "--cluster", file, "--a", "none", "--b", config, "--accept-unplaced")
		})
	}
}

func writeCluster(b *testing.B, size string) string {
	nodes, pods, _ := strings.Cut(size, "/")
	return write(b, "-f", "../examples/cluster/cluster.awk", "-v", "nodes="+nodes, "-v", "pods="+pods)
}

// write writes what awk does to a file.
func write(b *testing.B, args ...string) string {
	file := filepath.Join(b.TempDir(), "cluster.json")
	text, err := exec.CommandContext(b.Context(), "awk", args...).Output()
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
