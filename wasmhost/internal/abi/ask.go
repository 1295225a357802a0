package abi

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
)

// Message is what can be handed to a guest in protobuf, as the types of
// k8s.io/api can.
type Message interface{ Marshal() ([]byte, error) }

// Scheduler is what a guest may ask whatever the call is. After an error it traps.
type Scheduler interface {
	// Node is nil where there is none of that name.
	Node(name string) (Message, error)
	Nodes() (Message, error)
	// ImageStates is what JSON is made of.
	ImageStates(node string) (any, error)
	Eventf(Event)
	// RejectWaitingPod and AllowWaitingPod are false where none of that UID waits.
	RejectWaitingPod(uid string) bool
	AllowWaitingPod(uid string) bool
	// WaitingPod is nil where none of that UID waits.
	WaitingPod(uid string) Message
}

// Event is an event that a guest sends, as it encodes it in JSON.
type Event struct {
	RegardingReference, RelatedReference v1.ObjectReference
	Eventtype, Reason, Action, Note      string
}

// clean makes lines of an event's texts.
func (e *Event) clean() {
	for _, r := range []*v1.ObjectReference{&e.RegardingReference, &e.RelatedReference} {
		lines(abi.MaxName, &r.Kind, &r.APIVersion, &r.Name, &r.Namespace, &r.ResourceVersion, &r.FieldPath)
		r.UID = types.UID(printable.Line(string(r.UID), abi.MaxName))
	}
	lines(abi.MaxNote, &e.Eventtype, &e.Reason, &e.Action, &e.Note)
}

func lines(most int, texts ...*string) {
	for _, text := range texts {
		*text = printable.Line(*text, most)
	}
}

// In is what a guest may ask in one call. A zero field is not there in that call.
type In struct {
	Scheduler Scheduler
	Pod       Message
	Account   *Account // of the pod; nil is one of the instance's own
	Target    Message  // the pod that is added or removed
	NodeName  string   // of the node that is looked at
	Node      Message  // that node; nil is what Scheduler has under its name

	// What JSON is made of, when the guest asks: the names of the nodes that passed, the
	// status codes by node, the scores by node.
	FilteredNodes, Statuses, Scores func() any
}

// Verdict is what every hook answers.
type Verdict struct {
	// Code is the status code.
	Code int32
	// Number is a score, PostFilter's nominating mode, or Permit's milliseconds.
	Number int32
	// Reasons is nil, or one reason. Equal reasons are one slice, which no one
	// may change.
	Reasons []string
}

// Reason is the reason, or empty.
func (v Verdict) Reason() string {
	if len(v.Reasons) == 0 {
		return ""
	}
	return v.Reasons[0]
}

// Out is what a guest answered in one call.
type Out struct {
	Verdict
	ClusterEvents []byte
	NodeNames     sets.Set[string] // nil where none were named
	NominatedNode string
	Scores        map[string]int64 // nil where none were normalized
}

// NoScheduler is the Scheduler where there is none: before the guest is a plugin.
type NoScheduler struct{}

// Node implements Scheduler, as the other methods do.
func (NoScheduler) Node(string) (Message, error)    { return nil, nil }
func (NoScheduler) Nodes() (Message, error)         { return nil, nil }
func (NoScheduler) ImageStates(string) (any, error) { return nil, nil }
func (NoScheduler) Eventf(Event)                    {}
func (NoScheduler) RejectWaitingPod(string) bool    { return false }
func (NoScheduler) AllowWaitingPod(string) bool     { return false }
func (NoScheduler) WaitingPod(string) Message       { return nil }
