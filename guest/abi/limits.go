package abi

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

// Limit is one of these. Of is its unit and what has it, Beyond what happens where there is more, if not
// a trap. Both are in Markdown.
type Limit struct {
	Most       int
	Of, Beyond string
}

// Limits are all of these.
var Limits = []Limit{
	{MaxList, "bytes of `result.node_names` or `result.normalized_score_list`", ""},
	{MaxEntries, "names or scores in it", ""},
	{MaxClusterEvents, "bytes of `result.cluster_events`", ""},
	{MaxEvent, "bytes of an event's JSON", ""},
	{MaxEvents, "events in one attempt to schedule a pod", ""},
	{MaxName, "bytes of a node's name or a pod's UID", ""},
	{MaxText, "bytes of a reason, of a message, of its keys and values", cut},
	{MaxNote, "bytes of an event's type, reason, action or note", cut},
	{MaxName, "bytes of a field of an event's references", cut},
	{MaxReasons, "bytes of different reasons in one attempt", replaced},
	{MaxReasonsCount, "different reasons", replaced},
	{MaxFields, "declared fields", noStart},
	{MaxDeclared, "bytes of these", noStart},
}

const (
	cut      = "cut"
	replaced = "another says so"
	noStart  = "no start"
)
