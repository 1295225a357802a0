package command

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
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

func TestReadingAClusterEndsWithASignal(t *testing.T) {
	for _, command := range readers {
		fifo := filepath.Join(t.TempDir(), "fifo")
		testkit.Must(t, syscall.Mkfifo(fifo, 0o600))
		over, end := context.WithCancel(t.Context())
		end()
		out, status := newOutput(), make(chan int, 1)
		got := run(over, append(strings.Fields(command), fifo), out, out)
		if got == 0 || !strings.Contains(out.String(), "canceled") {
			t.Errorf("%s: exit status %d, while its pipe opens never: %s", command, got, out)
		}
		both, err := os.OpenFile(fifo, os.O_RDWR, 0) // so that no open waits
		testkit.Must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		out = newOutput()
		go func() { status <- run(ctx, append(strings.Fields(command), fifo), out, out) }()
		if _, err := both.Write(bytes.Repeat([]byte("\n"), 1<<20)); err != nil { // more than a FIFO holds: it is being read
			t.Fatal(err)
		}
		cancel()
		got = testkit.EventuallyReceives(t, command+" after a signal", status)
		if got == 0 || !strings.Contains(out.String(), "canceled") {
			t.Errorf("%s: exit status %d: %s", command, got, out)
		}
		both.Close()
	}
}

// Of a pipe whose writer stays.
func TestReadingAnyFileEndsWithASignal(t *testing.T) {
	for _, command := range []string{
		"--port 0 --api-port 0 --config", "fit -f", "rollout -f", "fit -f testdata/dumps/one.yaml --grow-with", "upgrade node-1 --node", "drain node-1 --config",
		"shrink --prices", "compare --a none --b", "compare --a none --b native --scenario", "side --to /dev/null --config", "side --to /dev/null --config none --scenario",
	} {
		fifo := filepath.Join(t.TempDir(), "fifo")
		testkit.Must(t, syscall.Mkfifo(fifo, 0o600))
		writer, err := os.OpenFile(fifo, os.O_RDWR, 0)
		testkit.Must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		out, status, read := newOutput(), make(chan int, 1), make(chan error, 1)
		args := append(strings.Fields(command), fifo)
		if args[0] != "--port" {
			args = append(args, "--cluster", drainable)
		}
		go func() { status <- run(ctx, args, out, out) }()
		go func() {
			_, err := writer.Write(bytes.Repeat([]byte("\n"), 1<<18)) // more than a FIFO holds: it is being read
			read <- err
		}()
		testkit.Must(t, testkit.EventuallyReceives(t, command+" reads", read))
		cancel()
		got := testkit.EventuallyReceives(t, command+" after a signal", status)
		if got == 0 || !strings.Contains(out.String(), "canceled") {
			t.Errorf("%s: exit status %d: %s", command, got, out)
		}
		writer.Close()
	}
}
