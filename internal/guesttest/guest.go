// Package guesttest runs guests in the unmodified Wasm host plugin, as a
// scheduler would, and looks into their memory. It is what tests and benchmarks
// of the guests share, and no part of any binary.
package guesttest

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero/experimental"
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	wasm "sigs.k8s.io/kube-scheduler-wasm-extension/scheduler/plugin"

	"wasmkwokwizardry.io/regex-scheduling/static"
)

// Guest is a guest in its host.
type Guest struct {
	framework.FilterPlugin
	framework.EnqueueExtensions
	preFilter framework.PreFilterPlugin
	memory    *memory
}

// Load starts a guest of static/, by file name, and ends it with the test.
func Load(tb testing.TB, file, config string, nodes *Nodes) *Guest {
	tb.Helper()
	guest, err := Start(tb, Read(tb, file), config, nodes)
	if err != nil {
		tb.Fatal(err)
	}
	return guest
}

// Read returns the bytes of a guest of static/.
func Read(tb testing.TB, file string) []byte {
	tb.Helper()
	binary, err := fs.ReadFile(static.Files, file)
	if err != nil {
		tb.Fatal(err)
	}
	return binary
}

// Start starts a guest from its bytes. The error is what the host says.
func Start(tb testing.TB, binary []byte, config string, nodes *Nodes) (*Guest, error) {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "guest.wasm")
	if err := os.WriteFile(file, binary, 0o600); err != nil {
		tb.Fatal(err)
	}
	memory := &memory{}
	ctx := experimental.WithMemoryAllocator(tb.Context(), memory)
	plugin, err := wasm.NewFromConfig(ctx, "WasmRegexScheduling",
		wasm.PluginConfig{GuestURL: "file://" + file, GuestConfig: config}, handle{nodes: nodes})
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { _ = plugin.(io.Closer).Close() })
	guest := &Guest{FilterPlugin: plugin.(framework.FilterPlugin), memory: memory}
	guest.EnqueueExtensions = plugin.(framework.EnqueueExtensions)
	guest.preFilter = plugin.(framework.PreFilterPlugin)
	return guest, nil
}

// PreFilter begins the scheduling cycle of a pod.
func (g *Guest) PreFilter(pod *v1.Pod) (*framework.PreFilterResult, *framework.Status) {
	return g.preFilter.PreFilter(context.Background(), nil, pod)
}

// Filter asks for the verdict on one node.
func (g *Guest) Filter(pod *v1.Pod, node *framework.NodeInfo) *framework.Status {
	return g.FilterPlugin.Filter(context.Background(), nil, pod, node)
}

// PostFilter asks for more to say of a pod that no node suits.
func (g *Guest) PostFilter(pod *v1.Pod) (*framework.PostFilterResult, *framework.Status) {
	return g.FilterPlugin.(framework.PostFilterPlugin).PostFilter(context.Background(), nil, pod, nil)
}

// Memory is the size of the guest's memory, in bytes. It never shrinks.
func (g *Guest) Memory() int { return len(g.memory.bytes) }

// StackUsed is how deep the guest's stack ever got, in bytes. The stack is the
// first thing in the guest's memory and grows towards address 0, from stackSize.
func (g *Guest) StackUsed(stackSize int) int {
	for i, b := range g.memory.bytes[:stackSize] {
		if b != 0 {
			return stackSize - i
		}
	}
	return 0
}

// memory is the memory of a guest, kept where a test can see it.
type memory struct{ bytes []byte }

// Allocate implements experimental.MemoryAllocator.
func (m *memory) Allocate(_, limit uint64) experimental.LinearMemory {
	m.bytes = make([]byte, 0, min(limit, 1<<30)) // address space, paid for when touched
	return m
}

// Reallocate implements experimental.LinearMemory.
func (m *memory) Reallocate(size uint64) []byte {
	m.bytes = m.bytes[:size]
	return m.bytes
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() {}
