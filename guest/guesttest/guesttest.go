//go:build !wasip1

// Package guesttest runs the hooks of a guest in go test, without Wasm: those of the
// packages that the guest imports.
package guesttest

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
)

// Input is what a hook receives.
type Input struct {
	Config string   // guestConfig
	Pod    Object   // of the cycle
	Target Object   // for addpod and removepod
	Nodes  []Object // of the cluster
	Node   string   // the name of the hook's node

	Passed   []string              // for prescore: the nodes that passed
	Statuses map[string]guest.Code // for postfilter
	Scores   map[string]int64      // for normalizescore
}

// Output is what a hook returns and reports.
type Output struct {
	guest.Status
	Score     int32            // of score
	Nominated string           // of postfilter
	NodeNames []string         // of prefilter
	Scores    map[string]int64 // of normalizescore
	Timeout   time.Duration    // of permit
	Log       []string

	ClusterEvents []byte // of enqueue: pairs of little-endian uint32, Resource and ActionType
}

// Call calls an export by its name, as the host does: "filter", "score", ….
func Call(t testing.TB, export string, in Input) Output {
	t.Helper()
	hook := exported(t, export)
	declared := []guest.Field{}
	switch {
	case host.Hooks["decides_by"] != nil:
		declared, _ = fields(t)
	case host.Hooks["sees_resources"] != nil:
		declared = nil
	}
	host.Now = host.Scheduler{
		Config: in.Config, NodeName: in.Node, Nodes: map[string][]byte{},
		Pod: in.Pod.encode(declared), Target: in.Target.encode(declared),
		Passed: text(t, in.Passed), Statuses: text(t, in.Statuses), Scores: text(t, in.Scores),
	}
	for _, node := range in.Nodes {
		host.Now.Nodes[node.Name] = node.encode(declared)
	}
	return output(t, export, hook())
}

// exported is an export of the packages that the guest imports.
func exported(t testing.TB, name string) func() uint64 {
	t.Helper()
	hook := host.Hooks[name]
	if hook == nil {
		t.Fatalf("the guest does not export %q: it exports %q; import the hook's package", name, slices.Sorted(maps.Keys(host.Hooks)))
	}
	return hook
}

// output reads the result, whose form depends on the export.
func output(t testing.TB, export string, result uint64) Output {
	t.Helper()
	upper, code := uint32(result>>32), uint32(result)
	reported := host.Now
	out := Output{Nominated: reported.NominatedNodeName, Log: reported.Logged, ClusterEvents: reported.ClusterEvents}
	switch export {
	case "score":
		out.Score = int32(upper)
	case "permit":
		out.Timeout, code = time.Duration(code)*time.Millisecond, upper
	}
	out.Status = guest.Status{Code: guest.Code(code), Reason: reported.Reason}
	if reported.NodeNames != "" {
		out.NodeNames = strings.Split(strings.TrimSuffix(reported.NodeNames, "\x00"), "\x00")
	}
	if reported.Normalized != "" {
		if err := json.Unmarshal([]byte(reported.Normalized), &out.Scores); err != nil {
			t.Fatalf("scores %q: %v", reported.Normalized, err)
		}
	}
	return out
}

// Declared returns the fields that the guest says it decides by. It fails the test if the guest
// does not import package decidesby, or declares more than the host takes.
func Declared(t testing.TB) []guest.Field {
	t.Helper()
	declared, size := fields(t)
	if len(declared) > abi.MaxFields || size > abi.MaxDeclared {
		t.Fatalf("decides_by: a list of %d fields and %d bytes, and the host takes %d and %d: declare fewer", len(declared), size, abi.MaxFields, abi.MaxDeclared)
	}
	return declared
}

// fields are not nil.
func fields(t testing.TB) (declared []guest.Field, size int) {
	t.Helper()
	result := exported(t, "decides_by")()
	list := string(host.Memory(uint32(result>>32), uint32(result)))
	declared = []guest.Field{}
	for field := range strings.SplitSeq(list, "\x00") {
		if field != "" {
			declared = append(declared, guest.Field(field))
		}
	}
	return declared, len(list)
}

// Object is a pod or a node. A guest that reads more than the metadata needs Protobuf,
// as Marshal of the type in k8s.io/api/core/v1 writes it.
type Object struct {
	Name, Namespace     string
	Labels, Annotations map[string]string
	Resources           *Resources // nil where the host does not count
	Protobuf            []byte     // instead of all others but Name
}

// Resources are what the guest finds of a pod (Requests) or a node, as in the host: the amounts that it declares, or all of them if it imports
// package resources. What is missing is zero.
type Resources struct {
	Requests, Allocatable, Requested map[string]int64
	Pods                             int
}

// encode writes v1.Pod or v1.Node in protobuf: package guest has the numbers. Of the resources it writes what is declared, or all where
// that is nil.
func (o Object) encode(declared []guest.Field) []byte {
	if o.Protobuf != nil {
		return o.Protobuf
	}
	metadata := append(field(1, []byte(o.Name)), field(3, []byte(o.Namespace))...)
	for number, entries := range map[uint64]map[string]string{11: o.Labels, 12: o.Annotations} {
		for key, value := range entries {
			metadata = append(metadata, field(number, append(field(1, []byte(key)), field(2, []byte(value))...))...)
		}
	}
	if o.Resources == nil || declared != nil && len(declared) == 0 {
		return field(1, metadata)
	}
	return append(field(1, metadata), field(abi.FieldResources, o.Resources.encode(declared))...)
}

func (r *Resources) encode(declared []guest.Field) (resources []byte) {
	if declared == nil {
		resources = number(abi.ResourcesComplete, 1)
	}
	if declared == nil || slices.Contains(declared, guest.NodePods) {
		resources = append(resources, number(abi.ResourcesPods, uint64(r.Pods))...)
	}
	for _, kind := range []struct {
		number  uint64
		field   func(resource string) guest.Field
		amounts map[string]int64
	}{
		{abi.ResourcesRequests, guest.PodRequests, r.Requests},
		{abi.ResourcesAllocatable, guest.NodeAllocatable, r.Allocatable},
		{abi.ResourcesRequested, guest.NodeRequested, r.Requested},
	} {
		names := slices.Collect(maps.Keys(kind.amounts))
		if declared != nil {
			names = nil
			for _, f := range declared {
				before, rest, _ := strings.Cut(string(f), "['")
				name := strings.TrimSuffix(rest, "']")
				if before != "" && kind.field(name) == f {
					names = append(names, name)
				}
			}
		}
		for _, name := range names {
			entry := append(field(abi.AmountResource, []byte(name)), number(abi.AmountValue, uint64(kind.amounts[name]))...)
			resources = append(resources, field(kind.number, entry)...)
		}
	}
	return resources
}

func field(number uint64, value []byte) []byte {
	tag := binary.AppendUvarint(nil, number<<3|2)
	return append(binary.AppendUvarint(tag, uint64(len(value))), value...)
}

func number(field, value uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, field<<3), value)
}

// text is JSON as the host writes it; nothing is an empty list or object.
func text(t testing.TB, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
