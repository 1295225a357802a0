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

	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

// guest is a guest that has started, with its instances and what is remembered of it. An attempt to schedule a pod begins and ends with
// the same one.
type guest struct {
	name     string // of its plugin
	url      string // as it may be shown
	host     *Host
	compiled *abi.Guest
	args     Args
	ctx      context.Context // with the values of the start's; it ends when the guest is closed
	events   []fwk.ClusterEventWithHint

	size                        int // of the module, in bytes
	sha256                      [sha256.Size]byte
	digest                      string // the same, as registries write it
	version                     string // as its source had it, or empty
	whyInstances, notRemembered string // of the rules

	// What the guest may ask in a scheduling cycle, and in a binding cycle. They are
	// nil while the guest is only checked.
	cycleView, bindingView abi.Scheduler
	plugin                 *plugin // that has used it for new cycles, or nil

	decidesBy *abi.Fields // nil for a guest that does not say
	visible   visible
	answers   *answers.Store // nil for a guest of which nothing is remembered

	countsPods bool                      // it decides by the pods on nodes, and is remembered
	lastChange atomic.Pointer[podChange] // that a hint was asked about
	metrics    *answerMetrics

	used  atomic.Bool // by a plugin, for new cycles
	pool  *pool
	log   *guestLog
	stop  context.CancelCauseFunc // ends ctx
	close func() error            // once
}

// errNoField is of a guest whose one answer would be remembered for all pods and nodes.
var errNoField = errors.New("wasm: decides_by: no field is declared: with the kit, call decidesby.Set in init")

var errClosed = fmt.Errorf("the guest is %w", ErrClosed)

// start gets a guest whose args are valid, and runs it.
func (h *Host) start(ctx context.Context, name string, args Args) (*guest, error) {
	m, err := h.get(ctx, name, args, "")
	if err != nil {
		return nil, err
	}
	return h.run(ctx, name, args, m)
}

// module is a guest as it was fetched.
type module struct {
	wasm    []byte
	version string // as FetchNew of the options has it
	sha256  [sha256.Size]byte
}

// about makes an error of a start one line that names plugin and URL.
func (h *Host) about(name string, args Args, err error) error {
	switch {
	case err == nil:
		return nil
	case h.ctx.Err() != nil:
		err = errHostClosed
	}
	return fmt.Errorf("plugin %s: guest %s: %w", name, printable.GuestURL(args.GuestURL), lineError{err})
}

// until is a context that ends with the host, too.
func (h *Host) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(h.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// run starts a guest.
func (h *Host) run(ctx context.Context, name string, args Args, m module) (g *guest, err error) {
	defer func() { err = h.about(name, args, err) }()
	ctx, cancel := h.until(ctx)
	defer cancel()
	// 1. Its code. wazero has the size of a memory in 32 bits, and the size of all pages would be 0.
	timeout := args.callTimeout()
	memoryLimit := min(cmp.Or(args.MemoryLimit.Value(), DefaultMemory), MaxMemory-MinMemory)
	compiled, err := abi.Compile(ctx, m.wasm, abi.Options{MemoryLimit: memoryLimit, Interruptible: timeout > 0})
	if errors.Is(err, abi.ErrMemoryLimit) {
		err = &ArgsError{"memoryLimit", err}
	}
	if err != nil {
		return nil, err
	}
	// 2. The guest, with an empty slot for each instance.
	url := printable.GuestURL(args.GuestURL)
	lasting, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	g = &guest{
		name: name, url: url, args: args, host: h, compiled: compiled, size: len(m.wasm), sha256: m.sha256, version: m.version, digest: fmt.Sprintf("sha256:%x", m.sha256), visible: visible{resources: compiled.SeesResources},
		ctx: lasting, stop: stop, log: h.logOf(name, url),
	}
	g.close = sync.OnceValue(g.closeOnce)
	g.pool = &pool{guest: g}
	g.pool.freed = sync.NewCond(&g.pool.mu)
	g.pool.slots, g.whyInstances, g.notRemembered = rules(compiled, args)
	g.pool.settings = abi.Settings{
		Config: args.GuestConfig, LogSeverity: args.LogSeverity, Log: g.log.write,
		CallTimeout: timeout, Repeatable: g.notRemembered == "",
	}
	for range g.pool.slots {
		g.pool.free = append(g.pool.free, &slot{pool: g.pool})
	}
	traps.WithLabelValues(name) // which is 0 until something happens
	skipped.WithLabelValues(name)
	reloads.WithLabelValues(name, success)
	reloads.WithLabelValues(name, failure)
	if timeout > 0 {
		go g.pool.watchdog.run(g.ctx.Done(), timeout)
	}
	// 3. From here on, Close of the host closes it.
	h.mu.Lock()
	if h.ctx.Err() == nil {
		h.guests[g] = struct{}{}
	}
	h.mu.Unlock()
	// 4. The first instance.
	err = g.startFirst(ctx)
	if err == nil {
		err = cmp.Or(ctx.Err(), h.ctx.Err()) // it may have ended without a call that lasts
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// get gets a guest's module. It is what the args ask for, whatever Fetch of the options has looked at. Where the source still has that
// version, which is not empty, there are no bytes.
func (h *Host) get(ctx context.Context, name string, args Args, version string) (m module, err error) {
	defer func() { err = h.about(name, args, err) }()
	ctx, cancel := h.until(ctx)
	defer cancel()
	switch {
	case h.options.FetchNew != nil:
		m.wasm, m.version, err = h.options.FetchNew(ctx, args, version)
	case h.options.Fetch != nil:
		m.wasm, err = h.options.Fetch(ctx, args)
	default:
		err = errors.New("the host cannot get guests: set Fetch of wasmhost.Options, as package fetch has it")
	}
	switch {
	case err != nil || m.wasm == nil && version != "" && m.version == version:
		return m, err
	case m.wasm == nil:
		return m, errors.New("no guest was fetched, and no error returned")
	}
	limit := cmp.Or(args.GuestSizeLimit.Value(), DefaultGuestSize)
	if int64(len(m.wasm)) > limit {
		return m, &ArgsError{"guestSizeLimit", fmt.Errorf("it has %d bytes, but guestSizeLimit is %d", len(m.wasm), limit)}
	}
	m.sha256 = sha256.Sum256(m.wasm)
	is, want := fmt.Sprintf("%x", m.sha256), strings.ToLower(args.GuestSHA256)
	if want != "" && is != want {
		err = fmt.Errorf("its SHA-256 is %s, but guestSHA256 asks for %s", is, want)
		if !strings.HasPrefix(args.GuestURL, "file:") && !args.imageIsPinned() { // a release may be under way
			err = &UnavailableError{err}
		}
		return m, &ArgsError{"guestSHA256", err}
	}
	if args.Verify == nil {
		return m, nil
	}
	err = errors.New("the host cannot verify signatures: set Verify of wasmhost.Options, as package fetch has it")
	if h.options.Verify != nil {
		err = h.options.Verify(ctx, args, m.sha256)
	}
	if err != nil {
		return m, &ArgsError{"verify", err}
	}
	return m, nil
}

// startFirst makes the first instance, so that a guest that cannot start does
// not get as far as a pod.
func (g *guest) startFirst(ctx context.Context) error {
	s := g.pool.acquire()
	defer g.pool.release(s)
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
	g.decidesBy, err = first.DecidesBy()
	if err != nil {
		return err
	}
	for _, field := range g.decidesBy.Amounts() {
		if field.Kind != abi.Pods && !answers.Counted(field.Key) {
			return fmt.Errorf("wasm: decides_by: the field %s: kube-scheduler counts no resource of that name, but cpu, memory, ephemeral-storage, pods, "+
				"hugepages-… and names with a domain, such as nvidia.com/gpu", field)
		}
		g.visible.resources = true
	}
	if g.notRemembered == "" {
		if len(g.decidesBy.Pod)+len(g.decidesBy.Node) == 0 && !g.compiled.AsksWhoPassed {
			return errNoField
		}
		g.visible.declared = g.decidesBy
		g.countsPods = g.decidesBy.DependOnPods()
		g.metrics = answerMetricsOf(g.name)
		g.answers = answers.New(g.decidesBy, cmp.Or(g.args.AnswersLimit.Value(), DefaultAnswers), g.metrics.size)
	}
	g.events, err = g.eventsOf(first)
	return err
}

// Close implements io.Closer. It ends calls and starts of instances that are under way, and waits
// for them. If one does not end, which cannot be interrupted, the guest is left as it is.
func (g *guest) Close() error { return g.close() }

func (g *guest) closeOnce() error {
	g.pool.closed.Store(true)
	g.host.forget(g)
	g.setUsed(false)
	g.stop(errClosed)
	defer g.log.close()
	if !g.pool.end() {
		return fmt.Errorf("plugin %s: guest %s is left behind: a call has not returned", g.name, g.url)
	}
	if g.answers != nil { // which startFirst makes in its slot
		g.answers.Close()
	}
	return g.compiled.Close(context.Background())
}

// setUsed tells the metrics whether cycles begin with the guest.
func (g *guest) setUsed(used bool) {
	if g.used.Swap(used) != used {
		countUsed(g.name, g.digest, used)
	}
}
