// Package guesttest runs guests in our host, as a scheduler would, and looks into
// their memory. It is what tests of the guests share, and no part of any binary.
package guesttest

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero/experimental"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/static"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// Guest is a guest in its host.
type Guest struct {
	fwk.FilterPlugin
	fwk.EnqueueExtensions
	preFilter fwk.PreFilterPlugin
	state     *framework.CycleState // of the cycle that is going on
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
	memory, host := &memory{}, &wasmhost.Host{}
	tb.Cleanup(func() { _ = host.Close() })
	// One instance, whose memory it is that is looked at.
	args, err := json.Marshal(wasmhost.Args{GuestURL: "file://" + file, GuestConfig: config, Instances: 1})
	if err != nil {
		tb.Fatal(err)
	}
	ctx := experimental.WithMemoryAllocator(tb.Context(), memory)
	plugin, err := host.Factory("WasmRegexScheduling")(ctx, &runtime.Unknown{Raw: args}, handle{nodes: nodes})
	if err != nil {
		return nil, err
	}
	guest := &Guest{FilterPlugin: plugin.(fwk.FilterPlugin), memory: memory, state: framework.NewCycleState()}
	guest.EnqueueExtensions = plugin.(fwk.EnqueueExtensions)
	guest.preFilter = plugin.(fwk.PreFilterPlugin)
	return guest, nil
}

// PreFilter begins the scheduling cycle of a pod.
func (g *Guest) PreFilter(pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status) {
	g.state = framework.NewCycleState()
	return g.preFilter.PreFilter(context.Background(), g.state, pod, nil)
}

// Filter asks for the verdict on one node.
func (g *Guest) Filter(pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	return g.FilterPlugin.Filter(context.Background(), g.state, pod, node)
}

// PostFilter asks for more to say of a pod that no node suits.
func (g *Guest) PostFilter(pod *v1.Pod) (*fwk.PostFilterResult, *fwk.Status) {
	return g.FilterPlugin.(fwk.PostFilterPlugin).PostFilter(context.Background(), g.state, pod, framework.NewDefaultNodeToStatus())
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
