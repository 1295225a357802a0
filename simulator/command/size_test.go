package command

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// readers are the commands that read the file of a cluster, whose name comes last.
var readers = []string{
	"--port 0 --api-port 0 --from",
	"compare --a none --b v2 --cluster",
	"fit -f ../../examples/cluster/fits.yaml --cluster",
	"drain node-1 --cluster",
	"shrink --cluster",
	"side --config none --to /dev/null --cluster",
}

// 23 minutes were spent on 3 GB of zeros, which are rejected at once today.
func TestReadingAClusterHasALimit(t *testing.T) {
	var bomb bytes.Buffer
	to := gzip.NewWriter(&bomb)
	_, _ = to.Write(bytes.Repeat([]byte("\n"), 2<<20)) // to memory
	to.Close()
	file := writeFile(t, t.TempDir(), "bomb.yaml.gz", bomb.String())
	for _, command := range readers {
		var out bytes.Buffer
		args := append(strings.Fields(command), file, "--max-size", "1Mi")
		want := file + ": more than 1Mi is too much to be read: --max-size allows more\n"
		status := run(t.Context(), args, &out, &out)
		if status == 0 || !strings.HasSuffix(out.String(), want) {
			t.Errorf("%s: exit status %d: %s", command, status, &out)
		}
	}
}

func TestReadingAFileEndsWithASignal(t *testing.T) {
	commands := []string{
		"--port 0 --api-port 0 --config", "fit --cluster CLUSTER -f", "rollout --cluster CLUSTER -f", "fit --cluster CLUSTER -f testdata/dumps/one.yaml --grow-with",
		"upgrade node-1 --cluster CLUSTER --node", "drain node-1 --cluster CLUSTER --config", "shrink --cluster CLUSTER --prices", "compare --cluster CLUSTER --a none --b",
		"compare --cluster CLUSTER --a none --b native --scenario", "side --cluster CLUSTER --to /dev/null --config", "side --cluster CLUSTER --to /dev/null --config none --scenario",
	}
	for _, command := range slices.Concat(readers, commands) {
		fifo := filepath.Join(t.TempDir(), "fifo")
		testkit.Must(t, syscall.Mkfifo(fifo, 0o600))
		args := append(strings.Fields(strings.Replace(command, "CLUSTER", drainable, 1)), fifo)
		ends := func(how string, out fmt.Stringer, status int) {
			if status == 0 || !strings.HasSuffix(out.String(), "simulator: context canceled\n") { // and nothing about the file
				t.Errorf("%s, %s: exit status %d: %s", command, how, status, out)
			}
		}
		over, end := context.WithCancel(t.Context())
		end()
		if slices.Contains(readers, command) {
			var out bytes.Buffer
			ends("while its pipe opens never", &out, run(over, args, &out, &out))
		}
		writer, err := os.OpenFile(fifo, os.O_RDWR, 0) // so that no open waits, and its writer stays
		testkit.Must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var out testkit.Log
		status, read := make(chan int, 1), make(chan error, 1)
		go func() { status <- run(ctx, args, &out, &out) }()
		go func() {
			_, err := writer.Write(bytes.Repeat([]byte("\n"), 1<<18)) // more than a FIFO holds: it is being read
			read <- err
		}()
		testkit.Must(t, testkit.EventuallyReceives(t, command+" reads", read))
		cancel()
		ends("after a signal", &out, testkit.EventuallyReceives(t, command+" after a signal", status))
		writer.Close()
	}
}
