// Package wasmhost puts Wasm guests into kube-scheduler: guests that are made for
// sigs.k8s.io/kube-scheduler-wasm-extension, whose host it takes the place of.
//
//	host := wasmhost.New(fetch.Fetcher{}.Options())
//	app.NewSchedulerCommand(app.WithPlugin(name, host.PluginFactory(name)))
//
// [Host.PluginFactory] makes what the scheduler's registry needs. [Host.Start] starts a
// guest before there is a scheduler, to find out whether it can be used. [Args] are
// what a configuration says of a guest.
//
// The host does not fetch guests: package fetch does, or what else [Options.Fetch] is. Args are
// decoded strictly. An error is one line that names plugin, URL and cause.
//
// A guest runs in parallel on as many instances as there are processors, if nothing
// that it exports or imports speaks against it: a guest that reserves, binds, or acts
// on the scheduler has one instance, and so has one that both filters and scores and does not declare its fields.
// [Args.Instances] asks for one instance. Each instance has seen
// the scheduling cycle that it is called for: the host repeats PreFilter, PreScore,
// AddPod and RemovePod for one that has not.
//
// A guest that declares the fields by which it decides sees nothing else, and is asked once
// for each combination of their values. [Args.Reload] replaces a guest by a new one of its source; an attempt to schedule a pod ends with
// the guest that it has begun with. A call that traps, or that lasts longer than
// [Args.CallTimeout], costs its pod an Error. The host drops the instance, and the
// next call gets another.
//
// The API has types of Kubernetes' scheduler and changes with its minors, so this module stays v0.
package wasmhost

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	apiruntime "k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/compiler"
)

// CompileInChild has every [Host] of this process compile guests in child processes, where the
// compiler has 768 MiB of memory and two minutes. A guest that takes more is an error of its start;
// without CompileInChild it can take all memory that there is.
//
// Call it first in main. The child is this program, run again, and there the call compiles a guest
// and does not return. Where no child can be started, or it cannot write to [os.TempDir], guests
// are compiled in this process, and a warning is logged. Only Linux limits the memory of a child.
func CompileInChild() { compiler.InChild() }

// Options say how a [Host] gets guests.
type Options struct {
	// Fetch returns the module of the guest that args name, until ctx ends. It is required; package fetch has one. The host holds
	// what it returns to GuestSizeLimit and GuestSHA256, and an error shows its digest: of what is not a Wasm module return an error.
	// Errors are shown, on one line: they should not quote what a user may not see. One about a field should be an [ArgsError], one
	// that may pass an [UnavailableError].
	Fetch func(ctx context.Context, args Args) ([]byte, error)
	// Verify returns nil if the guest that args name is signed as Verify of args, which is not nil, asks for. The guest has this SHA-256.
	// Without it, args that ask for a signature are an error. Package fetch has one.
	Verify func(ctx context.Context, args Args, guest [sha256.Size]byte) error
	// FetchNew is Fetch with a version, which is of the guest and of no other, or empty where that is not known. It returns no guest if
	// the source still has the version that it is given. It is called in place of Fetch, if it is there; without it, Reload of args does
	// nothing. Package fetch has one.
	FetchNew func(ctx context.Context, args Args, version string) (wasm []byte, now string, err error)
}

// Host makes plugins of guests. It gets and compiles a guest for each plugin
// and profile. Use a new Host for each start of a scheduler. [CompileInChild] says where guests
// are compiled.
type Host struct {
	options Options
	ctx     context.Context // ends when the Host is closed, with mu locked
	end     context.CancelFunc

	mu     sync.Mutex
	guests map[*guest]struct{}  // all that are open
	logs   map[string]*guestLog // by plugin and URL: guests that follow one another share what they may log

	reloading sync.WaitGroup
}

// New makes a Host.
func New(options Options) *Host {
	registerMetrics()
	ctx, end := context.WithCancel(context.Background())
	return &Host{options: options, ctx: ctx, end: end, guests: map[*guest]struct{}{}, logs: map[string]*guestLog{}}
}

// PluginFactory returns what the scheduler's registry needs to make the plugin of
// this name. Its args are a *runtime.Unknown that holds [Args] in JSON or YAML. The plugin is
// an io.Closer too.
func (h *Host) PluginFactory(name string) frameworkruntime.PluginFactory {
	return func(ctx context.Context, obj apiruntime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		args, err := DecodeArgs(obj)
		if err != nil {
			return nil, fmt.Errorf("plugin %s: %w", name, lineError{err})
		}
		started, err := h.started(ctx, name, args)
		if err != nil {
			return nil, err
		}
		return started.Plugin(ctx, handle), nil
	}
}

// Started is a guest that waits to become a plugin.
type Started struct {
	lease  *lease  // until there is a plugin, which has it then
	plugin *plugin // nil before
}

// Start gets a guest and starts it. It is for those who want to know whether a
// guest can be used before there is a scheduler. It ends, with an error, when the context does or
// the Host is closed.
//
// It returns an [ArgsError] where the args are not valid, or do not go with the guest.
func (h *Host) Start(ctx context.Context, name string, args Args) (*Started, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("plugin %s: %w", name, lineError{err})
	}
	return h.started(ctx, name, args)
}

func (h *Host) started(ctx context.Context, name string, args Args) (*Started, error) {
	g, err := h.start(ctx, name, args)
	if err != nil {
		return nil, err
	}
	return &Started{lease: newLease(g)}, nil
}

// guest is the one that is there now.
func (s *Started) guest() *guest {
	if s.plugin != nil {
		return s.plugin.lease.Load().guest
	}
	return s.lease.guest
}

// Close stops the guest, as [Host.Close] stops all, and the plugin that was made of it.
func (s *Started) Close() error {
	if s.plugin != nil {
		return s.plugin.Close()
	}
	return s.lease.guest.Close()
}

// Causes of the errors of [Host.Start], and of statuses of plugins (AsError), for [errors.Is].
var (
	// ErrClosed is of a Host, or a guest, that is closed.
	ErrClosed = errors.New("closed")
	// ErrTimeout is of what takes longer than [Args.CallTimeout] lets it: a call, a start, all calls of a scheduling cycle.
	ErrTimeout = abi.ErrTimeout
	// ErrTrap is of a guest that trapped or exited by itself.
	ErrTrap = abi.ErrTrap
)

// UnavailableError is in an error of [Host.Start] if the same start may succeed later, without a change of the args: a server does not
// answer yet, or still has another guest than GuestSHA256 of [Args] asks for.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string { return e.Err.Error() }
func (e *UnavailableError) Unwrap() error { return e.Err }

var errHostClosed = fmt.Errorf("the host is %w", ErrClosed)

// Plugin makes the guest a plugin of a scheduler. Call it once. The plugin is an
// io.Closer too.
func (s *Started) Plugin(ctx context.Context, handle fwk.Handle) fwk.Plugin {
	s.plugin = newPlugin(ctx, s.lease, handle)
	s.lease = nil
	return mask(s.plugin)
}

// Description is what the host makes of a guest.
type Description struct {
	URL              string            // of the guest, as it may be shown: without a password
	Size             int               // of the module, in bytes
	SHA256           [sha256.Size]byte // of the module
	Exports, Imports []string          // functions; imported ones by module

	DecidesBy     *Fields // nil where the guest does not say
	NotRemembered string  // why its answers are not; empty where they are
	Instances     int     // at most
	WhyInstances  string
	Memory        int64 // of one instance after its start, in bytes
}

// Fields are the fields that a guest decides by, of the pod and of the node. A field has a Kind ("namespace", "name", "labels",
// "annotations", "requests", "allocatable", "requested" or "pods") and, if it is one of a map, a Key; String is how guests write it.
type Fields = abi.Fields

// Describe tells what there is to know about the guest before it is asked.
func (s *Started) Describe() (d Description) {
	g := s.guest()
	defer runtime.KeepAlive(s) // which keeps the guest open
	d = Description{
		URL: g.url, Size: g.size, SHA256: g.sha256,
		NotRemembered: g.notRemembered, Instances: g.pool.slots, WhyInstances: g.whyInstances,
	}
	d.Exports, d.Imports = g.compiled.Functions()
	if g.decidesBy != nil {
		d.DecidesBy = &Fields{Pod: slices.Clone(g.decidesBy.Pod), Node: slices.Clone(g.decidesBy.Node)}
	}
	slot := g.pool.acquire()
	defer g.pool.release(slot)
	if slot.instance != nil || slot.start(g.ctx) == nil {
		d.Memory = int64(slot.instance.memory)
	}
	return d
}

// Close stops all guests that the Host has started, and starts that are under way. It interrupts
// calls, and waits for them to end. Its error names a guest that goes on, as one can that has no CallTimeout.
func (h *Host) Close() error {
	h.mu.Lock()
	h.end()
	guests := h.guests
	h.guests = nil
	h.mu.Unlock()
	var errs []error
	for g := range guests {
		errs = append(errs, g.Close())
	}
	ended := make(chan struct{})
	go func() { h.reloading.Wait(); close(ended) }()
	select {
	case <-ended: // and what compiled a guest has left nothing in a folder
	case <-time.After(closePatience):
		errs = append(errs, errors.New("the fetch of a new guest has not returned"))
	}
	return errors.Join(errs...)
}

// forget is for a guest that was closed.
func (h *Host) forget(g *guest) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.guests, g)
}

// maxLine is how much of an error a person gets to see, in bytes.
const maxLine = 1024

// lineError shows an error on one line, whatever a guest has written into it, and
// keeps its cause.
type lineError struct{ cause error }

func (e lineError) Error() string { return printable.Line(e.cause.Error(), maxLine) }
func (e lineError) Unwrap() error { return e.cause }
