package cmd

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/guestcommand"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// bomb is a guest of 87 KB for which wazero takes gigabytes: 2,000 globals, which are in registers, and
// 20,000 calls, around each of which they are stored.
func bomb() []byte {
	number := func(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }
	sized := func(content ...[]byte) []byte {
		all := slices.Concat(content...)
		return append(number(len(all)), all...)
	}
	section := func(id byte, content ...[]byte) []byte { return append([]byte{id}, sized(content...)...) }
	var use []byte // global.get, i32.const 1, i32.add, global.set
	for i := range 2000 {
		use = slices.Concat(use, []byte{0x23}, number(i), []byte{0x41, 1, 0x6a, 0x24}, number(i))
	}
	code := slices.Concat(use, bytes.Repeat([]byte{0x10, 1}, 20_000), use, []byte{0x41, 0, 0x0b})
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"),
		section(1, []byte{2, 0x60, 0, 1, 0x7f, 0x60, 0, 0}),
		section(3, []byte{2, 0, 1}),
		section(5, []byte{1, 0, 1}),
		section(6, number(2000), bytes.Repeat([]byte{0x7f, 1, 0x41, 0, 0x0b}, 2000)),
		section(7, []byte{2}, sized([]byte("memory")), []byte{2, 0}, sized([]byte("filter")), []byte{0, 0}),
		section(10, []byte{2}, sized([]byte{0}, code), sized([]byte{0, 0x0b})))
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	testkit.Must(t, os.WriteFile(file, content, 0o600))
}

// Each program that hosts guests compiles them in a child, which dies alone.
func TestProgramOutlivesABomb(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	testkit.Must(t, os.Mkdir(os.Getenv("TMPDIR"), 0o700))
	file, config := filepath.Join(dir, "bomb.wasm"), filepath.Join(dir, "config.yaml")
	write(t, file, bomb())
	write(t, config, []byte(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: Bomb}]}}
  pluginConfig: [{name: Bomb, args: {guestURL: "file://`+file+`"}}]
`))
	for program, args := range map[string][]string{
		"guest":     {"inspect", file},
		"scheduler": {"--config=" + config, "--kubeconfig=" + os.DevNull},
		"simulator": {"--config=" + config, "--port=0", "--data-dir=" + filepath.Join(dir, "data")},
	} {
		status, _, stderr := try(t, program, args...)
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		last := lines[len(lines)-1]
		if status == 0 || !strings.Contains(last, "guest file://"+file+": wasm: error compiling guest: the process that compiles it, which may take 768 MiB of memory, ended with exit status 2: ") {
			t.Errorf("%s: exit status %d: %.2000s", program, status, stderr)
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestGuestThatAChildCompilesAnswersTheSame(t *testing.T) {
	dir := t.TempDir()
	pod, nodes := filepath.Join(dir, "pod.yaml"), filepath.Join(dir, "nodes.yaml")
	write(t, pod, []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: web, annotations: {scheduler.wasmkwokwizardry.io/regex: '-[12]$'}}\n"))
	write(t, nodes, []byte("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: web-1}}\n- {apiVersion: v1, kind: Node, metadata: {name: web-3}}\n"))
	for _, wasm := range []string{"../static/regex_v1.wasm", "../static/regex_v2.wasm"} {
		args := []string{"run", wasm, "--pod", pod, "--nodes", nodes}
		status, inChild, stderr := try(t, "guest", args...)
		var here, problems strings.Builder
		got := guestcommand.Run(context.Background(), args, &here, &problems)
		if got != status || here.String() != inChild || !strings.Contains(inChild, "\nweb-3") {
			t.Errorf("%s: in a child exit status %d %s%s, in this process %d %s%s", wasm, status, inChild, stderr, got, &here, &problems)
		}
	}
}
