// Package abi is what a host and its guests must agree on: the names and shapes of the functions that one side
// calls of the other, and the limits of what passes between them. docs/guests.md says what each function does. It imports nothing, so
// hosts and tools may import it. The kit does not: directives for the compiler need literals, and a test compares them.
package abi

// Type is the type of a result. All parameters are [I32].
type Type string

const (
	Nothing Type = ""
	// I32 is a status code as the result of an export, and a size in bytes as that of an import. A parameter is an address in the
	// guest's memory, a size, or a severity.
	I32 Type = "i32"
	// I64 is a result of two halves. A hook has its status code in the lower one, and a score or a nominating mode in the upper one.
	// But permit has its code in the upper half, and a timeout in milliseconds in the lower one.
	I64 Type = "i64"
)

// ExportMemory is the name of the memory that host and guest share. It has pages of PageSize bytes.
const (
	ExportMemory = "memory"
	PageSize     = 64 << 10
)

// Functions that are called when an instance is made, if they are there: of a guest that is a program, and of one that is a library.
// They return nothing.
const (
	ExportStart      = "_start"
	ExportInitialize = "_initialize"
)

// ExportDecidesBy is called once, at the start, for what PreFilter, Filter, PreScore and Score decide by. It returns the address of a list in its upper half,
// and in its lower half the size in bytes. Each field of the list ends with a zero byte. The upstream host does not call it.
const ExportDecidesBy = "decides_by"

// The hooks, in the order in which a pod meets them. A guest exports one at least.
const (
	ExportEnqueue        = "enqueue"
	ExportPreFilter      = "prefilter"
	ExportAddPod         = "addpod"
	ExportRemovePod      = "removepod"
	ExportFilter         = "filter"
	ExportPostFilter     = "postfilter"
	ExportPreScore       = "prescore"
	ExportScore          = "score"
	ExportNormalizeScore = "normalizescore"
	ExportReserve        = "reserve"
	ExportUnreserve      = "unreserve"
	ExportPermit         = "permit"
	ExportPreBind        = "prebind"
	ExportBind           = "bind"
	ExportPostBind       = "postbind"
)

// Exports are the functions that a host calls, without parameters, and what they return.
var Exports = map[string]Type{
	ExportEnqueue:        Nothing,
	ExportPreFilter:      I32,
	ExportAddPod:         I32,
	ExportRemovePod:      I32,
	ExportFilter:         I32,
	ExportPostFilter:     I64,
	ExportPreScore:       I32,
	ExportScore:          I64,
	ExportNormalizeScore: I32,
	ExportReserve:        I32,
	ExportUnreserve:      Nothing,
	ExportPermit:         I64,
	ExportPreBind:        I32,
	ExportBind:           I32,
	ExportPostBind:       Nothing,
	ExportDecidesBy:      I64,
	ExportStart:          Nothing,
	ExportInitialize:     Nothing,
}

// The modules that a guest may import functions from, beside wasi_snapshot_preview1.
const (
	ModuleAPI       = "k8s.io/api"
	ModuleKlog      = "k8s.io/klog"
	ModuleScheduler = "k8s.io/scheduler"
)

// The functions of the modules. Those with (buf, limit) write to buf what fits within limit bytes, and return how many
// bytes there are: where these are more, nothing is written. Those with (text, size) read that many bytes.
const (
	ImportNode     = "node" // name, its size, buf, limit: v1.Node in protobuf
	ImportNodeList = "nodeList"

	ImportLog      = "log"  // severity, text, its size
	ImportLogs     = "logs" // and keys and values, each ended by a zero byte, their size
	ImportSeverity = "severity"

	ImportGetConfig        = "get_config"
	ImportCurrentPod       = "currentPod" // v1.Pod in protobuf
	ImportTargetPod        = "targetPod"
	ImportCurrentNodeName  = "currentNodeName"
	ImportFilteredNodeList = "filteredNodeList" // a JSON array
	ImportNodeToStatusMap  = "nodeToStatusMap"  // a JSON object
	ImportNodeScoreList    = "nodeScoreList"    // a JSON object
	ImportNodeImageStates  = "nodeImageStates"  // name, its size, buf, limit: a JSON object

	ImportClusterEvents       = "result.cluster_events"
	ImportNodeNames           = "result.node_names" // each ended by a zero byte
	ImportNominatedNodeName   = "result.nominated_node_name"
	ImportStatusReason        = "result.status_reason"
	ImportNormalizedScoreList = "result.normalized_score_list" // a JSON object

	ImportEventf           = "handle.eventrecorder.eventf" // a JSON object
	ImportRejectWaitingPod = "handle.reject_waiting_pod"   // uid, its size, buf, limit: 1 or 0 in eight bytes, the lowest first
	ImportAllowWaitingPod  = "handle.allow_waiting_pod"    // likewise. The upstream host does not have it
	ImportGetWaitingPod    = "handle.get_waiting_pod"      // uid, its size, buf, limit: v1.Pod in protobuf, or eight zero bytes

	// HandlePrefix begins the names of functions that act on the scheduler.
	HandlePrefix = "handle."
)

// Shape is how many parameters a function takes, and what it returns.
type Shape struct {
	Params  int
	Returns Type
}

// Imports are the functions that a guest may call, by module and name.
var Imports = map[string]map[string]Shape{
	ModuleAPI: {
		ImportNode:     {4, I32},
		ImportNodeList: {2, I32},
	},
	ModuleKlog: {
		ImportLog:      {3, Nothing},
		ImportLogs:     {5, Nothing},
		ImportSeverity: {0, I32},
	},
	ModuleScheduler: {
		ImportGetConfig:           {2, I32},
		ImportCurrentPod:          {2, I32},
		ImportTargetPod:           {2, I32},
		ImportCurrentNodeName:     {2, I32},
		ImportFilteredNodeList:    {2, I32},
		ImportNodeToStatusMap:     {2, I32},
		ImportNodeScoreList:       {2, I32},
		ImportNodeImageStates:     {4, I32},
		ImportClusterEvents:       {2, Nothing},
		ImportNodeNames:           {2, Nothing},
		ImportNominatedNodeName:   {2, Nothing},
		ImportStatusReason:        {2, Nothing},
		ImportNormalizedScoreList: {2, Nothing},
		ImportEventf:              {2, Nothing},
		ImportRejectWaitingPod:    {4, Nothing},
		ImportAllowWaitingPod:     {4, Nothing},
		ImportGetWaitingPod:       {4, Nothing},
	},
}

// What a guest may hand over: beyond these, its call is a trap. A cluster of 15,000 nodes stays below each of them.
const (
	MaxList          = 4 << 20  // bytes of nodes' names, or of scores: 15,000 times 279
	MaxEntries       = 64 << 10 // names or scores in them
	MaxClusterEvents = 1 << 10  // bytes: 128 events
	MaxEvent         = 16 << 10 // bytes of an event's JSON
	MaxEvents        = 100      // that are sent in one attempt to schedule a pod
	MaxName          = 253      // bytes of the name of an object, or of its UID
)

// What people read is cut, and becomes one line.
const (
	MaxNote         = 1024      // bytes of a field of an event: the API server takes no longer note
	MaxText         = 8 << 10   // bytes of a reason, a message, or the keys and values beside it
	MaxReasons      = 512 << 10 // bytes of the different reasons in one attempt: the pod's status must fit into 1.5 MiB
	MaxReasonsCount = 20_000
)

// What a guest may declare in [ExportDecidesBy]: beyond these, it does not start.
const (
	MaxFields   = 100
	MaxDeclared = 64 << 10 // bytes
)

// The severities of [ImportLog]. From SeverityFatal on, all are logged as errors: no guest ends the scheduler.
const (
	SeverityInfo    = 0
	SeverityWarning = 1
	SeverityError   = 2
	SeverityFatal   = 3
)
