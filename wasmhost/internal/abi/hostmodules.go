package abi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/tetratelabs/wazero/api"
	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
)

// hostFunction is called by guests. stack holds the parameters before the call, and the result after it.
type hostFunction func(i *Instance, stack []uint64)

// hostFunctions are all functions that guests may import, but for WASI's: abi.Imports has what they look like.
var hostFunctions = map[string]map[string]hostFunction{
	abi.ModuleAPI: {
		abi.ImportNode:     node,
		abi.ImportNodeList: nodeList,
	},
	abi.ModuleKlog: {
		abi.ImportLog:      func(i *Instance, s []uint64) { i.log(int32(s[0]), s[1], s[2], 0, 0) },
		abi.ImportLogs:     func(i *Instance, s []uint64) { i.log(int32(s[0]), s[1], s[2], s[3], s[4]) },
		abi.ImportSeverity: func(i *Instance, s []uint64) { s[0] = uint64(uint32(i.settings.LogSeverity)) },
	},
	abi.ModuleScheduler: {
		abi.ImportGetConfig:        func(i *Instance, s []uint64) { s[0] = write(i, i.settings.Config, s[0], s[1]) },
		abi.ImportCurrentPod:       func(i *Instance, s []uint64) { s[0] = i.writeMessage(i.In.Pod, s[0], s[1]) },
		abi.ImportTargetPod:        func(i *Instance, s []uint64) { s[0] = i.writeMessage(i.In.Target, s[0], s[1]) },
		abi.ImportCurrentNodeName:  func(i *Instance, s []uint64) { s[0] = write(i, i.In.NodeName, s[0], s[1]) },
		abi.ImportFilteredNodeList: func(i *Instance, s []uint64) { s[0] = i.writeMade(i.In.FilteredNodes, []string{}, s[0], s[1]) },
		abi.ImportNodeToStatusMap:  func(i *Instance, s []uint64) { s[0] = i.writeMade(i.In.Statuses, struct{}{}, s[0], s[1]) },
		abi.ImportNodeScoreList:    func(i *Instance, s []uint64) { s[0] = i.writeMade(i.In.Scores, struct{}{}, s[0], s[1]) },
		abi.ImportNodeImageStates:  nodeImageStates,

		abi.ImportClusterEvents:       resultClusterEvents,
		abi.ImportNodeNames:           resultNodeNames,
		abi.ImportNominatedNodeName:   resultNominatedNodeName,
		abi.ImportStatusReason:        resultStatusReason,
		abi.ImportNormalizedScoreList: resultNormalizedScoreList,

		abi.ImportEventf: eventf,
		abi.ImportRejectWaitingPod: func(i *Instance, s []uint64) {
			i.endWait(s, abi.ImportRejectWaitingPod, i.In.Scheduler.RejectWaitingPod)
		},
		abi.ImportAllowWaitingPod: func(i *Instance, s []uint64) { i.endWait(s, abi.ImportAllowWaitingPod, i.In.Scheduler.AllowWaitingPod) },
		abi.ImportGetWaitingPod:   getWaitingPod,
	},
}

// errInterrupted ends a call that is interrupted. The caller learns why it is.
var errInterrupted = errors.New("interrupted")

// module is the function for wazero.
func (f hostFunction) module(ctx context.Context, caller api.Module, stack []uint64) {
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
	f(i, stack)
}

func node(i *Instance, stack []uint64) {
	name := i.readName(stack[0], stack[1], abi.ImportNode)
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
	states, err := i.In.Scheduler.ImageStates(i.readName(stack[0], stack[1], abi.ImportNodeImageStates))
	if err != nil {
		panic(err)
	}
	stack[0] = i.writeJSON(states, stack[2], stack[3])
}

func resultClusterEvents(i *Instance, stack []uint64) {
	i.out.ClusterEvents = slices.Clone(i.read(stack[0], stack[1], abi.MaxClusterEvents, abi.ImportClusterEvents))
}

func resultNodeNames(i *Instance, stack []uint64) {
	names, all := terminated(i.read(stack[0], stack[1], abi.MaxList, abi.ImportNodeNames), abi.MaxEntries)
	if !all {
		panic(handedOver(abi.ImportNodeNames, "more than %d names", abi.MaxEntries))
	}
	i.out.NodeNames = nil
	if len(names) > 0 {
		i.out.NodeNames = sets.New(names...)
	}
}

func resultNominatedNodeName(i *Instance, stack []uint64) {
	i.out.NominatedNode = i.readName(stack[0], stack[1], abi.ImportNominatedNodeName)
}

func resultStatusReason(i *Instance, stack []uint64) {
	if reason, ok := i.memory.Read(uint32(stack[0]), uint32(stack[1])); ok {
		i.out.Reasons = i.reason(reason)
	} else {
		i.out.Reasons = []string{"BUG: out of memory reading message"}
	}
}

func resultNormalizedScoreList(i *Instance, stack []uint64) {
	encoded := i.read(stack[0], stack[1], abi.MaxList, abi.ImportNormalizedScoreList)
	if bytes.Count(encoded, []byte(":")) > abi.MaxEntries { // no name of a node has one
		panic(handedOver(abi.ImportNormalizedScoreList, "more than %d scores", abi.MaxEntries))
	}
	var scores map[string]int64
	if err := json.Unmarshal(encoded, &scores); err != nil {
		panic(handedOver(abi.ImportNormalizedScoreList, "%w", err))
	}
	i.out.Scores = scores
}

func eventf(i *Instance, stack []uint64) {
	var event Event
	if err := json.Unmarshal(i.read(stack[0], stack[1], abi.MaxEvent, abi.ImportEventf), &event); err != nil {
		panic(handedOver(abi.ImportEventf, "%w", err))
	}
	if i.Quiet {
		return
	}
	i.In.Account.event()
	event.clean()
	i.In.Scheduler.Eventf(event)
}

// endWait answers with a little-endian uint64, 1 or 0.
func (i *Instance) endWait(stack []uint64, what string, end func(uid string) bool) {
	uid := i.readName(stack[0], stack[1], what)
	ended := uint64(0)
	if !i.Quiet && end(uid) {
		ended = 1
	}
	i.writeNumber(ended, stack[2], stack[3])
}

// Eight zero bytes if there is no such pod.
func getWaitingPod(i *Instance, stack []uint64) {
	pod := i.In.Scheduler.WaitingPod(i.readName(stack[0], stack[1], abi.ImportGetWaitingPod))
	if pod == nil {
		i.writeNumber(0, stack[2], stack[3])
		return
	}
	i.writeMessage(pod, stack[2], stack[3])
}

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
	pairs, _ := terminated(values[:min(len(values), abi.MaxText)], abi.MaxText)
	for n := range pairs {
		pairs[n] = printable.Line(pairs[n], abi.MaxText)
	}
	i.settings.Log(severity, printable.Line(string(text[:min(len(text), abi.MaxText+1)]), abi.MaxText), pairs)
}
