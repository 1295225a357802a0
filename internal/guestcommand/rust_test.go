package guestcommand

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"google.golang.org/protobuf/encoding/protowire"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// rustc is Debian's: that of rustup may lack the target.
const rustc = "/usr/bin/rustc"

func needsRust(t *testing.T) {
	t.Helper()
	testkit.Needs(t, rustc, "make languages installs it (Debian)")
}

// host is what a guest that tests call gets of a host, and what it hands over.
type host struct {
	sends   map[string][]byte // by the name of the import
	nodes   map[string][]byte
	waiting map[string]bool // pods by UID
	got     []string
}

// call is a call of a host function that is imported by a name.
func (h *host) call(name string, memory api.Memory, stack []uint64) {
	at := func(i int) string {
		b, ok := memory.Read(uint32(stack[i]), uint32(stack[i+1]))
		if !ok {
			panic(fmt.Sprintf("%s: out of the guest's memory: %v", name, stack))
		}
		return string(b)
	}
	write := func(b []byte, i int) {
		if len(b) <= int(uint32(stack[i+1])) && !memory.Write(uint32(stack[i]), b) {
			panic(fmt.Sprintf("%s: out of the guest's memory: %v", name, stack))
		}
		stack[0] = uint64(len(b))
	}
	switch name {
	case abi.ImportNode:
		write(h.nodes[at(0)], 2)
	case abi.ImportLog:
		h.got = append(h.got, fmt.Sprintf("%d: %s", uint32(stack[0]), at(1)))
	case abi.ImportAllowWaitingPod, abi.ImportRejectWaitingPod:
		uid, ended := at(0), uint64(0)
		if h.waiting[uid] {
			delete(h.waiting, uid)
			ended = 1
		}
		write(binary.LittleEndian.AppendUint64(nil, ended), 2)
	default:
		if abi.Imports[abi.ModuleScheduler][name].Returns == abi.I32 {
			write(h.sends[name], 0)
		} else {
			h.got = append(h.got, fmt.Sprintf("%s %q", name, at(0)))
		}
	}
}

// caller calls a hook of a new instance of a guest, several times.
type caller func(t *testing.T, h *host, hook string, times int) (result uint64, stderr string, err error)

func TestRustGuest(t *testing.T) {
	wasm, call := everyHook(t)
	t.Run("exports what the macro names", func(t *testing.T) {
		status, out, errOut := try(t, "inspect", wasm)
		for name := range abi.Exports {
			if status != 0 || (!strings.HasPrefix(name, "_") && !strings.Contains(out, name)) {
				t.Errorf("status %d, no %s: %s%s", status, name, out, errOut)
			}
		}
	})
	t.Run("hears and answers in every hook", func(t *testing.T) { hearsAndAnswers(t, call) })
	t.Run("reads pods of any size, and frees them", func(t *testing.T) { readsAnySize(t, call) })
	t.Run("reads anything as Kubernetes does, or traps", func(t *testing.T) { readsAnything(t, call) })
}

// everyHook builds testdata/every.rs with the crate.
func everyHook(t *testing.T) (wasm string, call caller) {
	t.Helper()
	needsRust(t)
	source, err := os.ReadFile("testdata/every.rs")
	testkit.Must(t, err)
	inFolder(t, nil)
	status, _, errOut := try(t, "new", "every", "--language", "rust")
	if status != 0 {
		t.Fatal(errOut)
	}
	t.Chdir("every")
	testkit.Must(t, os.WriteFile("src/lib.rs", source, 0o600))
	build(t)
	wasm, err = filepath.Abs("every.wasm")
	testkit.Must(t, err)
	compiled, err := os.ReadFile(wasm)
	testkit.Must(t, err)

	ctx := t.Context()
	runtime := wazero.NewRuntime(ctx)
	t.Cleanup(func() { runtime.Close(context.Background()) })
	wasi_snapshot_preview1.MustInstantiate(ctx, runtime)
	var now *host
	for module, functions := range abi.Imports {
		builder := runtime.NewHostModuleBuilder(module)
		for name, shape := range functions {
			results := map[abi.Type][]api.ValueType{abi.I32: {api.ValueTypeI32}}[shape.Returns]
			builder.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, m api.Module, stack []uint64) {
				now.call(name, m.Memory(), stack)
			}), slices.Repeat([]api.ValueType{api.ValueTypeI32}, len(shape.Params)), results).Export(name)
		}
		_, err := builder.Instantiate(ctx)
		testkit.Must(t, err)
	}
	code, err := runtime.CompileModule(ctx, compiled)
	testkit.Must(t, err)
	return wasm, func(t *testing.T, h *host, hook string, times int) (result uint64, _ string, err error) {
		var stderr bytes.Buffer
		now = h
		instance, err := runtime.InstantiateModule(ctx, code, wazero.NewModuleConfig().WithName("").WithStderr(&stderr))
		testkit.Must(t, err)
		defer instance.Close(ctx)
		var size uint32
		for i := range times {
			results, callErr := instance.ExportedFunction(hook).Call(ctx)
			err = callErr
			if len(results) == 1 {
				result = results[0]
			}
			if i == 0 {
				size = instance.Memory().Size()
			}
		}
		if size != instance.Memory().Size() {
			t.Errorf("%s: the first call left %d bytes of memory, and the last one %d", hook, size, instance.Memory().Size())
		}
		if hook == abi.ExportDecidesBy {
			list, _ := instance.Memory().Read(uint32(result>>32), uint32(result))
			h.got = append(h.got, string(list))
		}
		return result, stderr.String(), err
	}
}

func encoded(t *testing.T, object interface{ Marshal() ([]byte, error) }) []byte {
	t.Helper()
	wire, err := object.Marshal()
	testkit.Must(t, err)
	return wire
}

func hearsAndAnswers(t *testing.T, call caller) {
	node := encoded(t, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b", Labels: map[string]string{"zone": "z"}}})
	gpus := protowire.AppendTag(nil, abi.AmountResource, protowire.BytesType)
	gpus = protowire.AppendString(gpus, "gpu")
	gpus = protowire.AppendTag(gpus, abi.AmountValue, protowire.VarintType)
	gpus = protowire.AppendVarint(gpus, 300)
	resources := protowire.AppendTag(nil, abi.ResourcesComplete, protowire.VarintType)
	resources = protowire.AppendVarint(resources, 1)
	resources = protowire.AppendTag(resources, abi.ResourcesPods, protowire.VarintType)
	resources = protowire.AppendVarint(resources, 2)
	resources = protowire.AppendTag(resources, abi.ResourcesAllocatable, protowire.BytesType)
	resources = protowire.AppendBytes(resources, gpus)
	node = protowire.AppendTag(node, abi.FieldResources, protowire.BytesType)
	node = protowire.AppendBytes(node, resources)
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "u", Labels: map[string]string{"app": "web", "é": ""}}}
	unsuitable := `result.status_reason "not on b"`
	for hook, want := range map[string]struct {
		result uint64
		got    string
	}{
		"prefilter":      {5, `1: {} shop web u none|result.node_names "a\x00b\x00"`},
		"addpod":         {0, `1: web b + other`},
		"removepod":      {2, `1: web b - other|` + unsuitable},
		"filter":         {2, `1: app=web,é= b z none|` + unsuitable},
		"postfilter":     {1 << 32, `1: [("a", Unschedulable), ("b", Error), ("c", UnschedulableAndUnresolvable)]|result.nominated_node_name "a"`},
		"prescore":       {0, `1: web a none|1: web b z`},
		"score":          {2, unsuitable},
		"normalizescore": {0, `result.normalized_score_list "{\"a\":10,\"b\":-20}"`},
		"reserve":        {2, `1: None Some(300) Some(0) Some(2)|` + unsuitable},
		"unreserve":      {0, `1: web b`},
		"permit":         {4<<32 | 3000, ``},
		"prebind":        {0, `1: true false false`},
		"bind":           {0, `handle.eventrecorder.eventf "{\"Note\": \"bound\"}"`},
		"postbind":       {0, ``},
		"enqueue":        {0, `result.cluster_events "\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00"`},
		"decides_by": {0, strings.Join([]string{
			"pod.metadata.namespace", "pod.metadata.name", "pod.metadata.labels['b']", "pod.metadata.annotations['a']", "pod.requests['example.com/r']",
			"node.metadata.name", "node.metadata.labels['c']", "node.metadata.annotations['d']",
			"node.allocatable['example.com/s']", "node.requested['example.com/t']", "node.pods", "",
		}, "\x00")},
	} {
		h := &host{
			sends: map[string][]byte{
				abi.ImportGetConfig: []byte("{}"), abi.ImportCurrentPod: encoded(t, pod), abi.ImportCurrentNodeName: []byte("b"),
				abi.ImportTargetPod:        encoded(t, &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "other"}}),
				abi.ImportFilteredNodeList: []byte(`["a","b"]`), abi.ImportNodeScoreList: []byte(`{"a":1,"b":-2}`),
				abi.ImportNodeToStatusMap: []byte(`{"a":2,"b":1,"c":3}`),
			},
			nodes:   map[string][]byte{"b": node},
			waiting: map[string]bool{"x": true},
		}
		result, stderr, err := call(t, h, hook, 1)
		got := strings.Join(h.got, "|")
		says, traps := map[string]string{"bind": "nothing is bound", "postbind": "it is too late"}[hook]
		if (result != want.result && hook != abi.ExportDecidesBy) || got != want.got || (err != nil) != traps {
			t.Errorf("%s: %#x, got %s, want %#x, %s: %v", hook, result, got, want.result, want.got, err)
		}
		if traps != strings.Contains(stderr, "panicked at '"+says+"', src/lib.rs:") {
			t.Errorf("%s: %q", hook, stderr)
		}
	}
}

func readsAnySize(t *testing.T, call caller) {
	for _, size := range []int{0, 16 << 10, 500_000} {
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"pad": strings.Repeat("x", size), "key": "value"}}}
		h := &host{sends: map[string][]byte{abi.ImportCurrentPod: encoded(t, pod)}}
		_, stderr, err := call(t, h, "prefilter", 100)
		if err != nil || !strings.HasSuffix(h.got[len(h.got)-2], " value") {
			t.Errorf("%d bytes: %q %s: %v", size, h.got, stderr, err)
		}
	}
}

// What no encoder writes is a trap with a message, or read as Kubernetes reads it.
func readsAnything(t *testing.T, call caller) {
	number := int64(-1)
	wire := encoded(t, &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", DeletionGracePeriodSeconds: &number, Annotations: map[string]string{"key": "value", "other": "1"}},
		Spec:       v1.PodSpec{NodeName: "n"},
	})
	wires := [][]byte{bytes.Repeat([]byte{0xff}, 20), append(bytes.Repeat([]byte{0x80}, 9), 2), append(slices.Clone(wire), 7<<3|3)}
	for i := range wire {
		changed := slices.Clone(wire)
		changed[i] = 0xff
		wires = append(wires, wire[:i], changed)
	}
	trapped := 0
	for _, wire := range wires {
		h := &host{sends: map[string][]byte{abi.ImportCurrentPod: wire}}
		_, stderr, err := call(t, h, "prefilter", 1)
		if err != nil {
			trapped++
			if !strings.Contains(stderr, "the host sent") {
				t.Errorf("% x: %q: %v", wire, stderr, err)
			}
			continue
		}
		var pod v1.Pod
		unmarshalled := pod.Unmarshal(wire)
		value, ok := pod.Annotations["key"]
		if !ok {
			value = "none"
		}
		want := fmt.Sprintf("1:  %s %s %s %s", pod.Namespace, pod.Name, pod.UID, value)
		if unmarshalled == nil && h.got[0] != want {
			t.Errorf("% x: got %q, want %q", wire, h.got, want)
		}
	}
	if trapped < len(wires)/2 {
		t.Errorf("%d of %d objects were rejected", trapped, len(wires))
	}
}
