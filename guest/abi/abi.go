// Package abi is what a host and its guests must agree on: the names and shapes of the functions that one side
// calls of the other, the numbers, and the limits of what passes between them. docs/abi.md has the rules, and its tables are
// made of this package. It imports nothing, so hosts and tools may import it. The kit does not: directives for the compiler
// need literals, and a test compares them.
package abi

// Version is the version of the ABI. A guest of 1.x runs on each host of the same or a later 1.x.
const Version = "1.0"

// Function is a function that one side calls of the other.
type Function struct {
	// Params are the names of the parameters. All are [I32], unsigned but for a severity: an address in the guest's memory, a
	// size in bytes, or a severity. Exports have none.
	//
	// A host function with buf and limit writes to buf what it has if that is within limit bytes, and else nothing. Where it
	// returns an [I32], that is how many bytes there are. Each other address, with the size behind it, is of what is read.
	Params  []string
	Returns Type
	// Doc is in Markdown.
	Doc string
}

// Type is the type of a result.
type Type string

const (
	Nothing Type = ""
	// I32 is a status code as the result of a hook, and a size in bytes as that of an import.
	I32 Type = "i32"
	// I64 is a result of two halves. A hook has its status code in the lower one, and another number in the upper one;
	// permit has them the other way round.
	I64 Type = "i64"
)

// ExportMemory is the name of the memory that host and guest share. It has pages of PageSize bytes.
const (
	ExportMemory = "memory"
	PageSize     = 64 << 10
)

// Functions that are called when an instance is made, if they are there: of a guest that is a program, and of one that is a library.
const (
	ExportStart      = "_start"
	ExportInitialize = "_initialize"
)

// ExportDecidesBy says what PreFilter, Filter, PreScore and Score decide by. It returns the address of a list in its upper half, and
// in its lower half the size in bytes. Each entry of the list is one of [Fields], and ends with a zero byte.
const ExportDecidesBy = "decides_by"

// Fields are what a guest can decide by. K is a key, or the name of a resource, without quotes and backslashes.
var Fields = []string{
	"pod.metadata.namespace",
	"pod.metadata.name",
	"pod.metadata.labels['K']",
	"pod.metadata.annotations['K']",
	"pod.requests['K']",
	"node.metadata.name",
	"node.metadata.labels['K']",
	"node.metadata.annotations['K']",
	"node.allocatable['K']",
	"node.requested['K']",
	"node.pods",
}

// ExportSeesResources asks for [FieldResources] in whole pods and nodes. A guest whose answers are remembered gets the amounts that it
// declares, without it.
const ExportSeesResources = "sees_resources"

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

// Exports are the functions that a host calls. Doc says when, and what more the result is than a status code.
var Exports = map[string]Function{
	ExportStart:          {nil, Nothing, "when an instance is made"},
	ExportInitialize:     {nil, Nothing, "likewise, then"},
	ExportDecidesBy:      {nil, I64, "once: [what it decides by](#what-may-be-remembered)"},
	ExportSeesResources:  {nil, Nothing, "never: it asks for [resources](#resources) in whole objects"},
	ExportEnqueue:        {nil, Nothing, "once: events that may help rejected pods; none is all of pods, nodes and volumes"},
	ExportPreFilter:      {nil, I32, "when a scheduling cycle begins; after Skip no `filter`"},
	ExportAddPod:         {nil, I32, "when the scheduler tries one more pod on a node"},
	ExportRemovePod:      {nil, I32, "one pod less"},
	ExportFilter:         {nil, I32, "for a node"},
	ExportPostFilter:     {nil, I64, "when none passed. Upper half: 1 to nominate the named node"},
	ExportPreScore:       {nil, I32, "when the nodes that passed are known; after Skip no `score`"},
	ExportScore:          {nil, I64, "for each of them. Upper half: the score, signed; once normalized, 0 to 100"},
	ExportNormalizeScore: {nil, I32, "with all scores"},
	ExportReserve:        {nil, I32, "when a node is chosen"},
	ExportUnreserve:      {nil, Nothing, "when it is given up"},
	ExportPermit:         {nil, I64, "before binding. *Upper* half: the code; lower: the longest Wait, in milliseconds, unsigned"},
	ExportPreBind:        {nil, I32, "when all waits are over"},
	ExportBind:           {nil, I32, "to bind the pod; after Skip another plugin does"},
	ExportPostBind:       {nil, Nothing, "when it is bound"},
}

// The modules that a guest may import functions from, beside wasi_snapshot_preview1.
const (
	ModuleScheduler = "k8s.io/scheduler"
	ModuleAPI       = "k8s.io/api"
	ModuleKlog      = "k8s.io/klog"
)

// The functions of the modules.
const (
	ImportGetConfig        = "get_config"
	ImportCurrentPod       = "currentPod"
	ImportTargetPod        = "targetPod"
	ImportCurrentNodeName  = "currentNodeName"
	ImportFilteredNodeList = "filteredNodeList"
	ImportNodeToStatusMap  = "nodeToStatusMap"
	ImportNodeScoreList    = "nodeScoreList"
	ImportNodeImageStates  = "nodeImageStates"

	ImportStatusReason        = "result.status_reason"
	ImportClusterEvents       = "result.cluster_events"
	ImportNodeNames           = "result.node_names"
	ImportNominatedNodeName   = "result.nominated_node_name"
	ImportNormalizedScoreList = "result.normalized_score_list"

	ImportEventf           = "handle.eventrecorder.eventf"
	ImportRejectWaitingPod = "handle.reject_waiting_pod"
	ImportAllowWaitingPod  = "handle.allow_waiting_pod"
	ImportGetWaitingPod    = "handle.get_waiting_pod"

	ImportNode     = "node"
	ImportNodeList = "nodeList"

	ImportLog      = "log"
	ImportLogs     = "logs"
	ImportSeverity = "severity"

	// HandlePrefix begins the names of functions that act on the scheduler.
	HandlePrefix = "handle."
)

// Imports are the functions that a guest may call, by module and name. Doc says what is written or read.
var Imports = map[string]map[string]Function{
	ModuleScheduler: {
		ImportGetConfig:       {buffer, I32, "`guestConfig`, as it stands"},
		ImportCurrentPod:      {buffer, I32, "the pod: `v1.Pod` in protobuf"},
		ImportTargetPod:       {buffer, I32, "likewise the pod that `addpod`, `removepod` are about"},
		ImportCurrentNodeName: {buffer, I32, "the node that the call is about"},

		ImportFilteredNodeList: {buffer, I32, "in `prescore`: which nodes passed, a JSON array"},
		ImportNodeToStatusMap:  {buffer, I32, "in `postfilter`: codes by node, a JSON object"},
		ImportNodeScoreList:    {buffer, I32, "in `normalizescore`: scores by node, a JSON object"},
		ImportNodeImageStates:  {nameBuffer, I32, "images on a node: JSON, by name `Size`, in bytes, and `NumNodes`"},

		ImportStatusReason:        {[]string{"reason", "size"}, Nothing, "why, for the pod's event"},
		ImportClusterEvents:       {[]string{"events", "size"}, Nothing, "in `enqueue`: pairs of 32-bit numbers, [resource and actions](#events)"},
		ImportNodeNames:           {[]string{"names", "size"}, Nothing, "in `prefilter`: the only nodes to look at, each name ended by a zero byte; none is all"},
		ImportNominatedNodeName:   {[]string{"name", "size"}, Nothing, "in `postfilter`"},
		ImportNormalizedScoreList: {[]string{"scores", "size"}, Nothing, "in `normalizescore`: new scores by node, a JSON object; none changes none"},

		ImportEventf: {[]string{"event", "size"}, Nothing, "an event to send: a JSON object of " +
			"`RegardingReference`, `RelatedReference`, `Eventtype`, `Reason`, `Action`, `Note`"},
		ImportRejectWaitingPod: {uidBuffer, Nothing, "rejects a pod that Permit made wait; writes 1, or 0 if there is none"},
		ImportAllowWaitingPod:  {uidBuffer, Nothing, "ends the wait by this guest, likewise; those by other plugins go on"},
		ImportGetWaitingPod:    {uidBuffer, Nothing, "such a pod in protobuf, or 0"},
	},
	ModuleAPI: {
		ImportNode:     {nameBuffer, I32, "`v1.Node` in protobuf"},
		ImportNodeList: {buffer, I32, "all nodes: `v1.NodeList`"},
	},
	ModuleKlog: {
		ImportLog:      {[]string{"severity", "text", "size"}, Nothing, "0 info, 1 warning, 2 error, 3 fatal, which ends nothing"},
		ImportLogs:     {[]string{"severity", "text", "size", "values", "size"}, Nothing, "with keys and values in turn, each ended by a zero byte"},
		ImportSeverity: {nil, I32, "the least severity that is logged"},
	},
}

// Parameters of several imports.
var (
	buffer     = []string{"buf", "limit"}
	nameBuffer = []string{"name", "size", "buf", "limit"}
	uidBuffer  = []string{"uid", "size", "buf", "limit"}
)
