package abi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
)

// hostFunction is a function that guests import. When it is called, stack holds the
// parameters; when it returns, the result.
type hostFunction struct {
	call    func(i *Instance, stack []uint64)
	params  int // all i32
	returns bool
}

type hostModule map[string]hostFunction

// hostModules are all functions that guests may import, but for WASI's. Most are
// (buf, limit) -> size: what does not fit within limit bytes is not written, and
// the guest asks again with as many bytes as size says. The functions that answer are
// (buf, size) -> ().
var hostModules = map[string]hostModule{
	moduleAPI: {
		"node":     {node, 4, true}, // name, its size, buf, limit
		"nodeList": {nodeList, 2, true},
	},
	moduleKlog: {
		"log":      {func(i *Instance, s []uint64) { i.log(int32(s[0]), s[1], s[2], 0, 0) }, 3, false},       // severity, text, its size
		"logs":     {func(i *Instance, s []uint64) { i.log(int32(s[0]), s[1], s[2], s[3], s[4]) }, 5, false}, // and keys and values, their size
		"severity": {func(i *Instance, s []uint64) { s[0] = uint64(uint32(i.settings.LogSeverity)) }, 0, true},
	},
	moduleScheduler: {
		"get_config":       {func(i *Instance, s []uint64) { s[0] = i.writeString(i.settings.Config, s[0], s[1]) }, 2, true},
		"currentPod":       {func(i *Instance, s []uint64) { s[0] = i.writeMessage(i.In.Pod, s[0], s[1]) }, 2, true},
		"targetPod":        {func(i *Instance, s []uint64) { s[0] = i.writeMessage(i.In.Target, s[0], s[1]) }, 2, true},
		"currentNodeName":  {func(i *Instance, s []uint64) { s[0] = i.writeString(i.In.NodeName, s[0], s[1]) }, 2, true},
		"filteredNodeList": {func(i *Instance, s []uint64) { s[0] = i.writeMade(i.In.FilteredNodes, []string{}, s[0], s[1]) }, 2, true},
		"nodeToStatusMap":  {func(i *Instance, s []uint64) { s[0] = i.writeMade(i.In.Statuses, struct{}{}, s[0], s[1]) }, 2, true},
		"nodeScoreList":    {func(i *Instance, s []uint64) { s[0] = i.writeMade(i.In.Scores, struct{}{}, s[0], s[1]) }, 2, true},
		"nodeImageStates":  {nodeImageStates, 4, true}, // name, its size, buf, limit

		"result.cluster_events":        {resultClusterEvents, 2, false},
		"result.node_names":            {resultNodeNames, 2, false},
		"result.nominated_node_name":   {resultNominatedNodeName, 2, false},
		"result.status_reason":         {resultStatusReason, 2, false},
		"result.normalized_score_list": {resultNormalizedScoreList, 2, false},

		"handle.eventrecorder.eventf": {eventf, 2, false},
		"handle.reject_waiting_pod":   {rejectWaitingPod, 4, false}, // uid, its size, buf, limit
		"handle.allow_waiting_pod":    {allowWaitingPod, 4, false},  // likewise; it is our addition
		"handle.get_waiting_pod":      {getWaitingPod, 4, false},    // uid, its size, buf, limit
	},
}

// errInterrupted ends a call that is interrupted. The caller learns why it is.
var errInterrupted = errors.New("interrupted")

func (m hostModule) instantiate(ctx context.Context, runtime wazero.Runtime, name string) error {
	builder := runtime.NewHostModuleBuilder(name)
	for _, function := range slices.Sorted(maps.Keys(m)) {
		f := m[function]
		var results []api.ValueType
		if f.returns {
			results = []api.ValueType{i32}
		}
		call := api.GoModuleFunc(func(ctx context.Context, caller api.Module, stack []uint64) {
			i := instanceOf(ctx)
			if i.Interrupted() {
				panic(errInterrupted)
			}
			if i.memory == nil { // the instance is starting
				i.memory = caller.Memory()
			}
			if i.In.Scheduler == nil {
				i.In.Scheduler = NoScheduler{}
			}
			if i.In.Account == nil {
				i.In.Account = &i.own
			}
			f.call(i, stack)
		})
		builder = builder.NewFunctionBuilder().WithGoModuleFunction(call, slices.Repeat([]api.ValueType{i32}, f.params), results).Export(function)
	}
	_, err := builder.Instantiate(ctx)
	return err
}

func node(i *Instance, stack []uint64) {
	name := i.readName(stack[0], stack[1], "node")
	node := i.In.Node
	if node == nil || name != i.In.NodeName {
		var err error
		if node, err = i.In.Scheduler.Node(name); err != nil {
			panic(err)
		}
	}
	stack[0] = i.writeMessage(node, stack[2], stack[3])
}

func nodeList(i *Instance, stack []uint64) {
	nodes, err := i.In.Scheduler.Nodes()
	if err != nil {
		panic(err)
	}
	stack[0] = i.writeMessage(nodes, stack[0], stack[1])
}

func nodeImageStates(i *Instance, stack []uint64) {
	states, err := i.In.Scheduler.ImageStates(i.readName(stack[0], stack[1], "nodeImageStates"))
	if err != nil {
		panic(err)
	}
	stack[0] = i.writeJSON(states, stack[2], stack[3])
}

func resultClusterEvents(i *Instance, stack []uint64) {
	i.out.ClusterEvents = slices.Clone(i.read(stack[0], stack[1], maxClusterEvents, "result.cluster_events"))
}

func resultNodeNames(i *Instance, stack []uint64) {
	const what = "result.node_names"
	names, all := terminated(i.read(stack[0], stack[1], maxList, what), maxEntries)
	if !all {
		panic(handedOver(what, "more than %d names", maxEntries))
	}
	i.out.NodeNames = nil
	if len(names) > 0 {
		i.out.NodeNames = sets.New(names...)
	}
}

func resultNominatedNodeName(i *Instance, stack []uint64) {
	i.out.NominatedNode = i.readName(stack[0], stack[1], "result.nominated_node_name")
}

func resultStatusReason(i *Instance, stack []uint64) {
	if reason, ok := i.memory.Read(uint32(stack[0]), uint32(stack[1])); ok {
		i.out.Reasons = i.reason(reason)
	} else {
		i.out.Reasons = []string{"BUG: out of memory reading message"}
	}
}

func resultNormalizedScoreList(i *Instance, stack []uint64) {
	const what = "result.normalized_score_list"
	encoded := i.read(stack[0], stack[1], maxList, what)
	if bytes.Count(encoded, []byte(":")) > maxEntries { // no name of a node has one
		panic(handedOver(what, "more than %d scores", maxEntries))
	}
	var scores map[string]int64
	if err := json.Unmarshal(encoded, &scores); err != nil {
		panic(handedOver(what, "%w", err))
	}
	i.out.Scores = scores
}

func eventf(i *Instance, stack []uint64) {
	const what = "handle.eventrecorder.eventf"
	var event Event
	if err := json.Unmarshal(i.read(stack[0], stack[1], maxEvent, what), &event); err != nil {
		panic(handedOver(what, "%w", err))
	}
	if i.Quiet {
		return
	}
	i.In.Account.event()
	event.clean()
	i.In.Scheduler.Eventf(event)
}

func rejectWaitingPod(i *Instance, stack []uint64) {
	i.endWait(stack, "handle.reject_waiting_pod", i.In.Scheduler.RejectWaitingPod)
}

func allowWaitingPod(i *Instance, stack []uint64) {
	i.endWait(stack, "handle.allow_waiting_pod", i.In.Scheduler.AllowWaitingPod)
}

// endWait answers with a little-endian uint64, 1 or 0.
func (i *Instance) endWait(stack []uint64, what string, end func(uid string) bool) {
	uid := i.readName(stack[0], stack[1], what)
	ended := uint64(0)
	if !i.Quiet && end(uid) {
		ended = 1
	}
	i.memory.WriteUint64Le(uint32(stack[2]), ended)
}

// Eight zero bytes if there is no such pod.
func getWaitingPod(i *Instance, stack []uint64) {
	pod := i.In.Scheduler.WaitingPod(i.readName(stack[0], stack[1], "handle.get_waiting_pod"))
	if pod == nil {
		i.memory.WriteUint64Le(uint32(stack[2]), 0)
		return
	}
	i.writeMessage(pod, stack[2], stack[3])
}

// The severities from which on klog has other words.
const (
	SeverityWarning = 1
	SeverityError   = 2
)

// log never fails: a message that is out of range, or too long, is not worth a trap.
func (i *Instance) log(severity int32, msg, msgSize, kvs, kvsSize uint64) {
	if severity < i.settings.LogSeverity || i.Quiet || i.settings.Log == nil {
		return
	}
	text, ok := i.memory.Read(uint32(msg), uint32(msgSize))
	if !ok {
		return
	}
	values, ok := i.memory.Read(uint32(kvs), uint32(kvsSize))
	if !ok {
		return
	}
	pairs, _ := terminated(values[:min(len(values), maxText)], maxText)
	for n := range pairs {
		pairs[n] = printable.Line(pairs[n], maxText)
	}
	i.settings.Log(severity, printable.Line(string(text[:min(len(text), maxText+1)]), maxText), pairs)
}
