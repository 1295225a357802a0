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
	"github.com/tetratelabs/wazero/api"

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

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

// exports are the names of the hooks, and what they return. None takes a parameter. A
// status code is an i32. Of an i64 it is the lower half, and the upper half is a score or
// a nominating mode. But permit has the code in the upper half, and a number of
// milliseconds in the lower.
var exports = [hooks]struct {
	name    string
	results []api.ValueType
}{
	Enqueue:        {"enqueue", nil},
	PreFilter:      {"prefilter", []api.ValueType{i32}},
	AddPod:         {"addpod", []api.ValueType{i32}},
	RemovePod:      {"removepod", []api.ValueType{i32}},
	Filter:         {"filter", []api.ValueType{i32}},
	PostFilter:     {"postfilter", []api.ValueType{i64}},
	PreScore:       {"prescore", []api.ValueType{i32}},
	Score:          {"score", []api.ValueType{i64}},
	NormalizeScore: {"normalizescore", []api.ValueType{i32}},
	Reserve:        {"reserve", []api.ValueType{i32}},
	Unreserve:      {"unreserve", nil},
	Permit:         {"permit", []api.ValueType{i64}},
	PreBind:        {"prebind", []api.ValueType{i32}},
	Bind:           {"bind", []api.ValueType{i32}},
	PostBind:       {"postbind", nil},
}

// String is the name of the export.
func (h Hook) String() string { return exports[h].name }

// Set is a set of hooks.
type Set uint32

// Has reports whether any of these hooks is in the set.
func (s Set) Has(hooks ...Hook) bool { return s&Of(hooks...) != 0 }

// Of makes a set.
func Of(hooks ...Hook) (s Set) {
	for _, h := range hooks {
		s |= 1 << h
	}
	return s
}

// The modules that a guest may import functions from, beside WASI.
const (
	moduleAPI       = "k8s.io/api"
	moduleKlog      = "k8s.io/klog"
	moduleScheduler = "k8s.io/scheduler"
)

// exportMemory is what the memory must be called that host and guest share.
const exportMemory = "memory"

// startFunctions are called when an instance is made, if there are any: the second
// of a guest that is built as a program, the third of one that is a library.
var startFunctions = []string{module.StartFunction, exportStart, exportInitialize}

const (
	exportStart      = "_start"
	exportInitialize = "_initialize"
)

// exportDecidesBy is a function () -> i64 that a guest may export to say what
// PreFilter, Filter and Score decide by. The upper half of what it returns is the
// address, the lower half the size in bytes of a list of fields, each of which
// ends with a zero byte. It is our addition: the upstream host ignores it.
const exportDecidesBy = "decides_by"

// pageSize is the unit of a guest's memory, in bytes.
const pageSize = 64 << 10
