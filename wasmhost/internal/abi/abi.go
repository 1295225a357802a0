// Package abi runs guests that are made for kube-scheduler-wasm-extension: it
// knows their exports, the functions that they import, how what passes between
// the two sides is encoded, and wazero. It knows nothing of the scheduler: what
// there is to say of pods and nodes comes as a [Message] or as JSON, through [In]
// and [Scheduler].
//
// A [Guest] is a compiled module. Its instances share nothing but the code, and
// each is called by one goroutine at a time. Which instance is called when, and
// what is done about one that trapped, is the caller's affair.
package abi

import (
	"strings"

	"github.com/tetratelabs/wazero/api"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/module"
)

// Hook is a function that a guest may export, named for the extension point of
// the scheduler that it serves.
type Hook uint8

// The hooks, in the order in which a pod meets them.
const (
	Enqueue Hook = iota
	PreFilter
	AddPod
	RemovePod
	Filter
	PostFilter
	PreScore
	Score
	NormalizeScore
	Reserve
	Unreserve
	Permit
	PreBind
	Bind
	PostBind
	hooks // how many there are
)

var names = [hooks]string{
	Enqueue:        abi.ExportEnqueue,
	PreFilter:      abi.ExportPreFilter,
	AddPod:         abi.ExportAddPod,
	RemovePod:      abi.ExportRemovePod,
	Filter:         abi.ExportFilter,
	PostFilter:     abi.ExportPostFilter,
	PreScore:       abi.ExportPreScore,
	Score:          abi.ExportScore,
	NormalizeScore: abi.ExportNormalizeScore,
	Reserve:        abi.ExportReserve,
	Unreserve:      abi.ExportUnreserve,
	Permit:         abi.ExportPermit,
	PreBind:        abi.ExportPreBind,
	Bind:           abi.ExportBind,
	PostBind:       abi.ExportPostBind,
}

// String is the name of the export.
func (h Hook) String() string { return names[h] }

// Set is a set of hooks.
type Set uint32

// String has the names of the hooks.
func (s Set) String() string {
	var in []string
	for h := range hooks {
		if s.Has(h) {
			in = append(in, h.String())
		}
	}
	return strings.Join(in, " ")
}

// Has reports whether any of these hooks is in the set.
func (s Set) Has(hooks ...Hook) bool { return s&Of(hooks...) != 0 }

// Of makes a set.
func Of(hooks ...Hook) (s Set) {
	for _, h := range hooks {
		s |= 1 << h
	}
	return s
}

// startFunctions are called when an instance is made, if there are any.
var startFunctions = []string{module.StartFunction, abi.ExportStart, abi.ExportInitialize}

// valueTypes are the types of the ABI as wazero has them: a list of none or one.
var valueTypes = map[abi.Type][]api.ValueType{abi.I32: {api.ValueTypeI32}, abi.I64: {api.ValueTypeI64}}
