package wasmhost

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

// plugin is a guest as the framework sees it. mask decides which of its interfaces the framework finds.
type plugin struct {
	name   string
	url    string // as it may be shown
	host   *Host
	guest  *abi.Guest
	args   Args
	ctx    context.Context // with the values of the start's; it ends when the plugin is closed
	key    fwk.StateKey
	events []fwk.ClusterEventWithHint

	size                        int // of the module, in bytes
	sha256                      [sha256.Size]byte
	whyInstances, notRemembered string // of the rules

	// What the guest may ask in a scheduling cycle, and in a binding cycle. They are
	// nil while the guest is only checked.
	cycleView, bindingView abi.Scheduler
	handle                 fwk.Handle

	decidesBy *abi.Fields // nil for a guest that does not say
	visible   visible
	answers   *answers.Store // nil for a guest of which nothing is remembered

	countsPods bool                      // it decides by the pods on nodes, and is remembered
	lastChange atomic.Pointer[podChange] // that a hint was asked about
	metrics    *answerMetrics

	pool      *pool
	log       *guestLog
	last      atomic.Pointer[cycle] // that was begun last
	beginning sync.Mutex
	stop      context.CancelCauseFunc // ends ctx
	close     func() error            // once
}

// errNoField is of a guest whose one answer would be remembered for all pods and nodes.
var errNoField = errors.New("wasm: decides_by: no field is declared: with the kit, call decidesby.Set in init")

var errClosed = fmt.Errorf("the guest is %w", ErrClosed)

// start starts a guest whose args are valid. An error is one line that names plugin and URL.
func (h *Host) start(ctx context.Context, name string, args Args) (_ *Started, err error) {
	url := printable.GuestURL(args.GuestURL)
	defer func() {
		if err != nil && h.ctx.Err() != nil {
			err = errHostClosed
		}
		if err != nil {
			err = fmt.Errorf("plugin %s: guest %s: %w", name, url, lineError{err})
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	// 1. The module, as the args ask for it.
	wasm, digest, err := h.get(ctx, args)
	if err != nil {
		return nil, err
	}
	// 2. Its code. wazero has the size of a memory in 32 bits, and the size of all pages would be 0.
	timeout := args.callTimeout()
	memoryLimit := min(cmp.Or(args.MemoryLimit.Value(), DefaultMemory), MaxMemory-MinMemory)
	guest, err := abi.Compile(ctx, wasm, abi.Options{MemoryLimit: memoryLimit, Interruptible: timeout > 0})
	if errors.Is(err, abi.ErrMemoryLimit) {
		err = &ArgsError{"memoryLimit", err}
	}
	if err != nil {
		return nil, err
	}
	// 3. The plugin, with an empty slot for each instance.
	lasting, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	p := &plugin{
		name: name, url: url, args: args, host: h, guest: guest, size: len(wasm), sha256: digest, visible: visible{resources: guest.SeesResources},
		ctx: lasting, stop: stop, key: naming.Key(name), log: &guestLog{plugin: name, url: url},
	}
	p.close = sync.OnceValue(p.closeOnce)
	p.pool = &pool{plugin: p}
	p.pool.freed = sync.NewCond(&p.pool.mu)
	p.pool.slots, p.whyInstances, p.notRemembered = rules(guest, args)
	p.pool.settings = abi.Settings{
		Config: args.GuestConfig, LogSeverity: args.LogSeverity, Log: p.log.write,
		CallTimeout: timeout, Repeatable: p.notRemembered == "",
	}
	for range p.pool.slots {
		p.pool.free = append(p.pool.free, &slot{pool: p.pool})
	}
	traps.WithLabelValues(name) // which is 0 until something happens
	skipped.WithLabelValues(name)
	if timeout > 0 {
		go p.pool.watchdog.run(p.ctx.Done(), timeout)
	}
	// 4. From here on, Close of the host closes it.
	h.mu.Lock()
	if h.ctx.Err() == nil {
		h.plugins[p] = struct{}{}
	}
	h.mu.Unlock()
	// 5. The first instance.
	err = p.startFirst(ctx)
	if err == nil {
		err = cmp.Or(ctx.Err(), h.ctx.Err()) // it may have ended without a call that lasts
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return &Started{p}, nil
}

// get gets a guest's module and its digest. They are what the args ask for, whatever Fetch of the options has looked at.
func (h *Host) get(ctx context.Context, args Args) (wasm []byte, digest [sha256.Size]byte, err error) {
	if h.options.Fetch == nil {
		return nil, digest, errors.New("the host cannot get guests: set Fetch of wasmhost.Options, as package fetch has it")
	}
	wasm, err = h.options.Fetch(ctx, args)
	if err != nil {
		return nil, digest, err
	}
	limit := cmp.Or(args.GuestSizeLimit.Value(), DefaultGuestSize)
	if int64(len(wasm)) > limit {
		return nil, digest, &ArgsError{"guestSizeLimit", fmt.Errorf("it has %d bytes, but guestSizeLimit is %d", len(wasm), limit)}
	}
	digest = sha256.Sum256(wasm)
	is, want := fmt.Sprintf("%x", digest), strings.ToLower(args.GuestSHA256)
	if want != "" && is != want {
		return nil, digest, &ArgsError{"guestSHA256", fmt.Errorf("its SHA-256 is %s, but guestSHA256 asks for %s", is, want)}
	}
	if args.Verify == nil {
		return wasm, digest, nil
	}
	err = errors.New("the host cannot verify signatures: set Verify of wasmhost.Options, as package fetch has it")
	if h.options.Verify != nil {
		err = h.options.Verify(ctx, args, digest)
	}
	if err != nil {
		return nil, digest, &ArgsError{"verify", err}
	}
	return wasm, digest, nil
}

// startFirst makes the first instance, so that a guest that cannot start does
// not get as far as a pod.
func (p *plugin) startFirst(ctx context.Context) error {
	s := p.pool.acquire()
	defer p.pool.release(s)
	if err := s.start(ctx); err != nil {
		err = fmt.Errorf("failed to create a guest pool: %w", err)
		trap := (*abi.Trap)(nil)
		if errors.As(err, &trap) && trap.ExitCode == 1 {
			return &ArgsError{"guestConfig", err} // what a guest refuses by itself
		}
		return err
	}
	first := s.instance
	defer context.AfterFunc(ctx, func() { first.Interrupt(context.Cause(ctx)) })()
	var err error
	p.decidesBy, err = first.DecidesBy()
	if err != nil {
		return err
	}
	for _, field := range p.decidesBy.Amounts() {
		if field.Kind != abi.Pods && !answers.Counted(field.Key) {
			return fmt.Errorf("wasm: decides_by: the field %s: kube-scheduler counts no resource of that name, but cpu, memory, ephemeral-storage, pods, "+
				"hugepages-… and names with a domain, such as nvidia.com/gpu", field)
		}
		p.visible.resources = true
	}
	if p.notRemembered == "" {
		if len(p.decidesBy.Pod)+len(p.decidesBy.Node) == 0 && !p.guest.AsksWhoPassed {
			return errNoField
		}
		p.visible.declared = p.decidesBy
		p.countsPods = p.decidesBy.DependOnPods()
		p.metrics = answerMetricsOf(p.name)
		p.answers = answers.New(p.decidesBy, cmp.Or(p.args.AnswersLimit.Value(), DefaultAnswers), p.metrics.size)
	}
	p.events, err = p.eventsOf(first)
	return err
}

func (p *plugin) Name() string { return p.name }

// Close implements io.Closer. It ends calls and starts of instances that are under way, and waits
// for them. If one does not end, which cannot be interrupted, the guest is left as it is.
func (p *plugin) Close() error { return p.close() }

func (p *plugin) closeOnce() error {
	p.pool.closed.Store(true)
	p.host.forget(p)
	p.stop(errClosed)
	defer p.log.close()
	if !p.pool.end() {
		return fmt.Errorf("plugin %s: guest %s is left behind: a call has not returned", p.name, p.url)
	}
	if p.answers != nil { // which startFirst makes in its slot
		p.answers.Close()
	}
	return p.guest.Close(context.Background())
}
