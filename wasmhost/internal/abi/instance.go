package abi

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/module"
)

// Settings are what an instance knows from its start.
type Settings struct {
	// Config is what get_config returns.
	Config string
	// LogSeverity is the least severity that the guest logs: 0 info to 3 fatal.
	LogSeverity int32
	// Log writes what the guest logs, kvs being keys and values in turn.
	Log func(severity int32, msg string, kvs []string)
	// CallTimeout bounds the start of an instance of an interruptible guest, which may
	// take ten times as long. Zero is no bound. Further calls are for
	// [Instance.Interrupt] to end.
	CallTimeout time.Duration
	// Repeatable stops the clock, and begins the random numbers again with each call:
	// the same question gets the same answer.
	Repeatable bool
}

// Instance is a guest that runs. It is for one goroutine at a time.
type Instance struct {
	// In is for the caller to set before a call.
	In In
	// Quiet drops what the guest logs and the events that it sends: the call only
	// repeats for this instance what another has seen.
	Quiet bool

	ctx       context.Context // of its calls: host functions find the instance in it
	module    api.Module
	memory    api.Memory
	linear    *memory
	functions [hooks]api.Function
	stacks    [hooks]reflect.Value // of these
	settings  Settings
	stack     [1]uint64
	printed   printed
	out       Out
	last      *reason // that was given, in the account lastOf
	lastOf    *Account
	own       Account

	interrupted  atomic.Bool
	mu           sync.Mutex
	calls        uint64            // twice the number of calls, one more during a call
	watched      uint64            // calls, when Watch saw the last call first
	watchedSince time.Time         // when that was
	why          error             // it is interrupted
	stop         api.MutableGlobal // nil where the guest is not interruptible
}

// startsWithin is how many times as long as a call the start of an instance may take. It
// runs all that initializes a guest, and the first one does so on a machine that is busy
// with the start of a scheduler.
const startsWithin = 10

// Start makes an instance and runs its start functions. The values in ctx, of
// which wazero knows some, are for that only.
func (g *Guest) Start(ctx context.Context, s Settings) (*Instance, error) {
	// 1. Room for its memory and its tables.
	linear := &memory{limit: uint64(g.memoryLimit), budget: &g.budget, taken: g.needs + g.code.Prepared.TableBytes}
	if !g.budget.take(linear.taken) {
		return nil, fmt.Errorf("wasm: %s error: %w: the guest holds %d of the %d bytes that it may have", instantiate, ErrNoRoom, g.budget.held.Load(), g.budget.limit)
	}
	linear.bytes = make([]byte, 0, g.needs)
	// 2. The instance, which can be interrupted from here on.
	i := &Instance{settings: s, linear: linear}
	i.printed.interrupted = &i.interrupted
	i.ctx = context.WithValue(starting{ctx, experimental.WithMemoryAllocator(context.Background(), linear)}, instanceKey{}, i)
	defer context.AfterFunc(ctx, func() { i.Interrupt(context.Cause(ctx)) })()
	if s.CallTimeout > 0 {
		defer time.AfterFunc(startsWithin*s.CallTimeout, func() {
			i.Interrupt(fmt.Errorf("the start took longer than ten times %w, %s", ErrTimeout, s.CallTimeout))
		}).Stop()
	}
	// 3. The module. Two of one name cannot be instantiated.
	config := wazero.NewModuleConfig().WithName(strconv.FormatUint(g.started.Add(1), 10)).WithArgs("guest").
		WithStdout(&i.printed).WithStderr(&i.printed).WithStartFunctions().WithRandSource(&pieces{of: i, from: rand.Reader})
	if s.Repeatable {
		config = config.WithRandSource(&pieces{of: i, from: &sameNumbers{of: i}}).
			WithWalltime(func() (int64, int32) { return standsStill.Unix(), 0 }, clockResolution).
			WithNanotime(func() int64 { return int64(time.Second) }, clockResolution) // Go's runtime does not start at zero
	}
	err := i.run(instantiate, func() (err error) {
		i.module, err = g.code.Runtime.InstantiateModule(i.ctx, g.code.CompiledModule, config)
		return err
	})
	// 4. Its start functions. The variable by which it is stopped may have to be set already.
	if err == nil {
		i.memory = i.module.Memory()
		i.mu.Lock()
		i.stop, _ = i.module.ExportedGlobal(module.StopGlobal).(api.MutableGlobal)
		if i.why != nil {
			i.interrupt(i.why)
		}
		i.mu.Unlock()
	}
	for _, export := range startFunctions {
		if err != nil {
			break
		}
		start := i.module.ExportedFunction(export)
		if start == nil {
			continue
		}
		if export == module.StartFunction {
			export = instantiate
		}
		err = i.run(export, func() error { return explainExit(start.CallWithStack(i.ctx, nil)) })
	}
	if err != nil {
		if i.module != nil {
			_ = i.module.Close(ctx)
		}
		linear.Free() // perhaps wazero did not come to it
		return nil, err
	}
	// 5. Its hooks.
	i.ctx = context.WithValue(context.Background(), instanceKey{}, i)
	for h := range hooks {
		if g.Exports.Has(h) {
			i.find(h)
		}
	}
	return i, nil
}

// maxKeptStack is how large a stack may grow that is kept for further calls, in bytes.
const maxKeptStack = 1 << 20

// find finds a hook. wazero keeps a stack for each function that was found, as large as a call has made it.
func (i *Instance) find(h Hook) {
	f := i.module.ExportedFunction(h.String())
	i.functions[h] = f
	i.stacks[h] = reflect.ValueOf(f).Elem().FieldByName("stack")
}

// starting is a context with defaults: a test may have an allocator that lets it look
// at the memory.
type starting struct {
	context.Context
	defaults context.Context
}

func (s starting) Value(key any) any {
	value := s.Context.Value(key)
	if value != nil {
		return value
	}
	return s.defaults.Value(key)
}

// instantiate stands for the start of a module in errors.
const instantiate = "instantiate"

// explainExit says what to do about a guest whose start has ended it, with exit code 0.
func explainExit(err error) error {
	exit := (*sys.ExitError)(nil)
	if errors.As(err, &exit) && exit.ExitCode() == 0 {
		return fmt.Errorf("%w: the guest is built as a program, which ends with its main; "+
			"build it with -buildmode=c-shared (Go) or -buildmode=wasi-legacy (TinyGo)", err)
	}
	return err
}

// run calls functions of the guest, unless the instance is interrupted. An error is a [Trap].
func (i *Instance) run(export string, call func() error) error {
	err := i.count()
	if err == nil {
		err = call()
	}
	why := i.count()
	if why != nil { // though the call may have come to its end
		err = why
	}
	if err != nil {
		return i.trap(export, err, cmp.Or(why, ErrTrap))
	}
	i.printed.kept = nil
	return nil
}

// count begins or ends a call of any function of the guest. It returns why the instance is
// interrupted, if it is.
func (i *Instance) count() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.calls++
	return i.why
}

// Watch reports whether a call lasts, and interrupts one that lasts since an earlier Watch, at least as long ago as it may last.
// It is for one goroutine, beside the one that calls.
func (i *Instance) Watch(timeout time.Duration) (lasts bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.calls%2 == 0:
		return false
	case i.calls != i.watched:
		i.watched = i.calls
		i.watchedSince = time.Now()
	case time.Since(i.watchedSince) >= timeout:
		i.interrupt(fmt.Errorf("the call took longer than %w, %s", ErrTimeout, timeout))
	}
	return true
}

// Interrupt ends the call that lasts, and every further one, with a [Trap] that says
// why. Any goroutine may call it. A guest that is not interruptible ends its call first.
func (i *Instance) Interrupt(why error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.interrupt(why)
}

// interrupt is Interrupt with the lock held.
func (i *Instance) interrupt(why error) {
	if i.why == nil {
		i.why = why
	}
	i.interrupted.Store(true)
	if i.stop != nil {
		i.stop.Set(1)
	}
}

// Interrupted reports whether all further calls fail.
func (i *Instance) Interrupted() bool { return i.interrupted.Load() }

// Call calls a hook that the guest exports, and writes what it answers to out. After an
// error, which is a [Trap], the instance is in no defined state, and of no use but to be closed.
func (i *Instance) Call(h Hook, out *Out) error {
	i.out = Out{}
	i.stack[0] = 0
	err := i.run(h.String(), func() error { return i.functions[h].CallWithStack(i.ctx, i.stack[:]) })
	if err != nil {
		return err
	}
	if i.stacks[h].Len() > maxKeptStack {
		i.find(h)
	}
	*out = i.out
	out.Verdict = h.verdict(i.stack[0])
	out.Reasons = i.out.Reasons
	return nil
}

// verdict takes apart what a hook returned.
func (h Hook) verdict(value uint64) Verdict {
	low, high := int32(value), int32(value>>32)
	if h == Permit {
		low, high = high, low
	}
	return Verdict{Code: low, Number: high}
}

// DecidesBy asks the guest what it decides by. Nil is where it does not say.
func (i *Instance) DecidesBy() (*Fields, error) {
	declared := i.module.ExportedFunction(abi.ExportDecidesBy)
	if declared == nil {
		return nil, nil
	}
	i.In = In{}
	i.stack[0] = 0
	err := i.run(abi.ExportDecidesBy, func() error { return declared.CallWithStack(i.ctx, i.stack[:]) })
	if err != nil {
		return nil, err
	}
	where := i.stack[0]
	size := uint32(where)
	list, ok := i.memory.Read(uint32(where>>32), min(size, abi.MaxDeclared))
	switch {
	case size > abi.MaxDeclared:
		err = fmt.Errorf("a list of %d bytes, and at most %d are taken", size, abi.MaxDeclared)
	case !ok:
		err = errors.New("the list of fields is not in the guest's memory")
	default:
		var fields *Fields
		if fields, err = parseFields(string(list)); err == nil {
			return fields, nil
		}
	}
	return nil, fmt.Errorf("wasm: %s: %w", abi.ExportDecidesBy, err)
}

// MemorySize is the size of the instance's memory, in bytes.
func (i *Instance) MemorySize() uint32 { return i.memory.Size() }

// Close ends the instance.
func (i *Instance) Close(ctx context.Context) error {
	defer i.linear.Free()
	return i.module.Close(ctx)
}

type instanceKey struct{}

// instanceOf finds the instance that calls a host function.
func instanceOf(ctx context.Context) *Instance { return ctx.Value(instanceKey{}).(*Instance) }
