package abi

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Message is what can be handed to a guest in protobuf, as the types of
// k8s.io/api can.
type Message interface {
	Size() int
	// MarshalToSizedBuffer fills a buffer that has Size bytes.
	MarshalToSizedBuffer([]byte) (int, error)
}

// Settings are what an instance knows from its start.
type Settings struct {
	// Config is what get_config returns.
	Config string
	// LogSeverity is the least severity that the guest logs: 0 info to 3 fatal.
	LogSeverity int32
	// Log writes what the guest logs, kvs being keys and values in turn.
	Log func(severity int32, msg string, kvs []string)
	// StartTimeout bounds the start of an instance of an interruptible guest. Zero
	// is no bound. Calls are for [Instance.Interrupt] to end.
	StartTimeout time.Duration
}

// Scheduler is what a guest may ask whatever the call is.
type Scheduler interface {
	// Node is nil where there is none of that name.
	Node(name string) Message
	Nodes() (Message, error)
	// ImageStates is what JSON is made of.
	ImageStates(node string) any
	Eventf(Event)
	RejectWaitingPod(uid string) bool
	// WaitingPod is nil where none of that UID waits.
	WaitingPod(uid string) Message
}

// Event is an event that a guest sends, as it encodes it in JSON.
type Event struct {
	RegardingReference Reference
	RelatedReference   Reference
	Eventtype          string
	Reason             string
	Action             string
	Note               string
}

// Reference names an object.
type Reference struct {
	Kind            string
	APIVersion      string
	Name            string
	Namespace       string
	UID             string
	ResourceVersion string
}

// In is what a guest may ask in one call. What is zero is not to be had there.
type In struct {
	Scheduler     Scheduler
	Pod           Message
	Target        Message         // the pod that is added or removed
	NodeName      string          // of the node that is looked at
	FilteredNodes func() []string // the names of those that passed
	Statuses      func() map[string]int
	Scores        map[string]int64
}

// Out is what a guest answered in one call, beside the number that it returned.
type Out struct {
	// Reasons is nil, or one reason. Equal reasons are one slice, which nobody
	// may change.
	Reasons       []string
	ClusterEvents []byte
	NodeNames     []string
	NominatedNode string
	Scores        map[string]int64 // nil where none were normalized
}

// Instance is a guest that runs. It is for one goroutine at a time.
//
// It is the context of its own calls: host functions find it at once there,
// where a chain of contexts would have to be walked.
type Instance struct {
	// In is for the caller to set before a call.
	In In
	// Quiet drops what the guest logs and the events that it sends: the call only
	// repeats for this instance what another has seen.
	Quiet bool

	module    api.Module
	memory    api.Memory
	functions [hooks]api.Function
	settings  Settings
	stack     [1]uint64
	printed   printed
	out       Out
	reasons   reasons

	calls       atomic.Uint64 // twice the number of calls, and one more during one
	interrupt   chan struct{}
	interrupted atomic.Pointer[error] // why

	filterNames api.Function
	names       struct{ at, size uint32 } // of the buffer for names, once it is known
}

// Start makes an instance and runs its start function. The values in ctx, of
// which wazero knows some, are for that only.
func (g *Guest) Start(ctx context.Context, s Settings) (*Instance, error) {
	i := &Instance{settings: s, interrupt: make(chan struct{})}
	ctx = context.WithValue(ctx, instanceKey{}, i)
	if g.allocator != nil {
		ctx = experimental.WithMemoryAllocator(ctx, g.allocator)
	}
	if s.StartTimeout > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, s.StartTimeout)
		defer cancel()
	}
	config := wazero.NewModuleConfig().WithName(g.name()).WithStdout(&i.printed).WithStderr(&i.printed)
	module, err := g.runtime.InstantiateModule(ctx, g.compiled, config)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = Overdue(s.StartTimeout)
		}
		return nil, i.trap("instantiate", err)
	}
	if module.IsClosed() { // it exited, with 0
		return nil, i.trap("instantiate", errors.New("module closed with exit_code(0)"))
	}
	i.printed.reset()
	i.module, i.memory = module, module.Memory()
	for h := range hooks {
		if g.exports.Has(h) {
			i.functions[h] = module.ExportedFunction(h.String())
		}
	}
	return i, nil
}

// Call calls a hook that the guest exports. An error is a [Trap]: the instance
// is then in no defined state, and of no use but to be closed.
func (i *Instance) Call(h Hook) (uint64, error) {
	i.out = Out{}
	i.stack[0] = 0
	if err := i.call(h.String(), i.functions[h]); err != nil {
		return 0, err
	}
	return i.stack[0], nil
}

// call calls a function of the guest with what is on the stack. Every call goes
// through here.
func (i *Instance) call(name string, f api.Function) error {
	i.calls.Add(1)
	err := f.CallWithStack(i, i.stack[:])
	i.calls.Add(1)
	if err != nil {
		if why := i.interrupted.Load(); why != nil {
			err = *why
		}
		return i.trap(name, err)
	}
	if i.printed.kept != nil {
		i.printed.reset()
	}
	return nil
}

// Overdue is why a call was interrupted that took longer than it may.
func Overdue(timeout time.Duration) error {
	return fmt.Errorf("the call took longer than callTimeout, %s", timeout)
}

// InCall tells one call from the next, and whether it lasts. It is for any
// goroutine.
func (i *Instance) InCall() (number uint64, lasts bool) {
	number = i.calls.Load()
	return number, number%2 == 1
}

// Interrupt ends the call that lasts, and every further one, with a [Trap] that
// says why. It is for any goroutine. A guest that is not interruptible goes on.
func (i *Instance) Interrupt(why error) {
	if i.interrupted.CompareAndSwap(nil, &why) {
		close(i.interrupt)
	}
}

// DecidesBy asks the guest what it decides by. Nil is where it does not say.
func (i *Instance) DecidesBy() (*Fields, error) {
	declared := i.module.ExportedFunction(exportDecidesBy)
	if declared == nil {
		return nil, nil
	}
	if err := i.call(exportDecidesBy, declared); err != nil {
		return nil, err
	}
	list, ok := i.memory.Read(uint32(i.stack[0]>>32), uint32(i.stack[0]))
	if !ok {
		return nil, fmt.Errorf("wasm: %s: the list of fields is not in the guest's memory", exportDecidesBy)
	}
	fields, err := parseFields(string(list))
	if err != nil {
		return nil, fmt.Errorf("wasm: %s: %w", exportDecidesBy, err)
	}
	return fields, nil
}

// Out is what the guest answered in the last call, until the next one.
func (i *Instance) Out() *Out { return &i.out }

// MemorySize is the size of the instance's memory, in bytes.
func (i *Instance) MemorySize() uint32 { return i.memory.Size() }

// Close ends the instance.
func (i *Instance) Close(ctx context.Context) error { return i.module.Close(ctx) }

type instanceKey struct{}

// instanceOf finds the instance that calls a host function.
func instanceOf(ctx context.Context) *Instance {
	if i, ok := ctx.(*Instance); ok {
		return i
	}
	return ctx.Value(instanceKey{}).(*Instance)
}

// Deadline implements context.Context.
func (i *Instance) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements context.Context.
func (i *Instance) Done() <-chan struct{} { return i.interrupt }

// Err implements context.Context.
func (i *Instance) Err() error {
	if i.interrupted.Load() == nil {
		return nil
	}
	return context.DeadlineExceeded
}

// Value implements context.Context.
func (i *Instance) Value(key any) any {
	if _, ok := key.(instanceKey); ok {
		return i
	}
	return nil
}
