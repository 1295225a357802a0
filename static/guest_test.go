package static_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"testing"

	"github.com/tetratelabs/wazero/experimental"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/static"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// guest is a guest in its host, as a scheduler runs it, whose memory can be looked
// into.
type guest struct {
	fwk.FilterPlugin
	fwk.EnqueueExtensions
	preFilter fwk.PreFilterPlugin
	state     *framework.CycleState // of the cycle that is going on
	memory    *memory
}

// load starts a guest of static/, by file name, and ends it with the test.
func load(tb testing.TB, file, config string, nodes *snapshot.Handle) *guest {
	tb.Helper()
	guest, err := start(tb, read(tb, file), config, nodes)
	testkit.Must(tb, err)
	return guest
}

// read returns the bytes of a guest of static/.
func read(tb testing.TB, file string) []byte {
	tb.Helper()
	binary, err := fs.ReadFile(static.Files, file)
	testkit.Must(tb, err)
	return binary
}

// start starts a guest from its bytes. The error is what the host says.
func start(tb testing.TB, binary []byte, config string, nodes *snapshot.Handle) (*guest, error) {
	tb.Helper()
	memory := &memory{}
	host := wasmhost.New(wasmhost.Options{Fetch: func(context.Context, wasmhost.Args) ([]byte, error) { return binary, nil }})
	tb.Cleanup(func() { _ = host.Close() })
	// One instance, whose memory it is that is looked at.
	args, err := json.Marshal(wasmhost.Args{GuestURL: "file://guest.wasm", GuestConfig: config, Instances: 1})
	testkit.Must(tb, err)
	ctx := experimental.WithMemoryAllocator(tb.Context(), memory)
	plugin, err := host.PluginFactory("WasmRegexScheduling")(ctx, &runtime.Unknown{Raw: args}, nodes)
	if err != nil {
		return nil, err
	}
	g := &guest{FilterPlugin: plugin.(fwk.FilterPlugin), memory: memory, state: framework.NewCycleState()}
	g.EnqueueExtensions = plugin.(fwk.EnqueueExtensions)
	g.preFilter = plugin.(fwk.PreFilterPlugin)
	return g, nil
}

// PreFilter begins the scheduling cycle of a pod.
func (g *guest) PreFilter(pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status) {
	g.state = framework.NewCycleState()
	return g.preFilter.PreFilter(context.Background(), g.state, pod, nil)
}

// Filter asks for the verdict on one node.
func (g *guest) Filter(pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	return g.FilterPlugin.Filter(context.Background(), g.state, pod, node)
}

// Memory is the size of the guest's memory, in bytes. It never shrinks.
func (g *guest) Memory() int { return len(g.memory.bytes) }

// StackUsed is how deep the guest's stack ever got, in bytes. The stack is the
// first thing in the guest's memory and grows towards address 0, from stackSize.
func (g *guest) StackUsed(stackSize int) int {
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
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory {
	m.bytes = make([]byte, 0, wasmhost.DefaultMemory) // address space, paid for when touched
	return m
}

// Reallocate implements experimental.LinearMemory.
func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(cap(m.bytes)) {
		return nil
	}
	m.bytes = m.bytes[:size]
	return m.bytes
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() {}

func podWith(pattern string) *v1.Pod { return annotated(regex.Annotation, pattern) }

func annotated(key, value string) *v1.Pod {
	pod := podWithout()
	pod.Annotations = map[string]string{key: value}
	return pod
}

func podWithout() *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: types.UID("web")}}
}

func nodesNamed(names ...string) *snapshot.Handle {
	var nodes []*v1.Node
	for _, name := range names {
		nodes = append(nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return snapshot.Of(nodes...)
}
