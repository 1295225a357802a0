package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/plugin"
	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/static"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// role says what a variant is measured for.
type role int

const (
	ours    role = iota // decides by the policy
	floor               // does less than any policy must
	foreign             // a guest of GUESTS
)

// variant is a plugin variant, or a floor below one.
type variant struct {
	name string
	role role
	// open starts a session, which runs scheduling cycles on the nodes of a cluster. Nil: it
	// has none.
	open func(c *cluster) (session, error)
	// overHTTP says that a server gets all nodes in one request.
	overHTTP bool
	// serve makes it ready for a real scheduler, until the benchmark ends, and returns the
	// scheduler's configuration. Nil: a whole scheduler is not measured with it.
	serve func(tb testing.TB) string
	wasm  []byte // of a guest
	// decisions is how many bytes of its attempts a whole scheduler keeps.
	decisions int
}

// long reports whether turns of a variant take seconds: the guest on the SDK, and all
// that goes over HTTP.
func (d *variant) long() bool {
	return d.name == "v1" || d.overHTTP
}

// session is an open variant.
type session interface {
	// Cycle runs the scheduling cycle of a pod as far as the variant has a part in
	// it, and returns the names of the nodes that pass, in feasible if it has
	// the room.
	Cycle(pod *v1.Pod, feasible []string) ([]string, error)
	Close() error
}

// allVariants are ours, the floors, and foreign guests.
func allVariants(tb testing.TB) []*variant {
	v2 := read(tb, static.Files.ReadFile, "regex_v2.wasm")
	all := []*variant{
		{name: "none", serve: func(testing.TB) string { return configuration }},
		ofGuest("v1", ours, read(tb, static.Files.ReadFile, "regex_v1.wasm")),
		ofGuest("v2", ours, v2),
		askedAgain("v2-asked", v2, wasmhost.Timeout{}),
		askedAgain("v2-asked-trusted", v2, wasmhost.NoCallTimeout),
		ofNative(),
		ofExtender("extender", false),
		ofExtender("extender-names", true),
	}
	for _, name := range []string{"empty", "name", "reject", "pod"} {
		all = append(all, ofGuest(name, floor, read(tb, os.ReadFile, "testdata/"+name+".wasm")))
	}
	for file := range strings.FieldsFuncSeq(*guests, func(r rune) bool { return r == ',' }) {
		wasm := read(tb, os.ReadFile, file)
		asked := askedAgain(nameOf(file)+"-asked", wasm, wasmhost.Timeout{})
		asked.role = foreign
		all = append(all, ofGuest(nameOf(file), foreign, wasm), asked)
	}
	seen := map[string]bool{}
	for _, d := range all {
		if seen[d.name] {
			tb.Fatalf("two variants have the name %s: rename a guest's file", d.name)
		}
		seen[d.name] = true
	}
	return all
}

func read(tb testing.TB, from func(string) ([]byte, error), file string) []byte {
	tb.Helper()
	wasm, err := from(file)
	testkit.Must(tb, err)
	return wasm
}

// nameOf makes the name of a variant from the name of a file, for a benchmark's name.
func nameOf(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".wasm")
	return strings.NewReplacer(" ", "_", "/", "_", "=", "_", "\t", "_").Replace(name)
}

// configuration is of a scheduler without leader election.
const configuration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
` + unlimited

// unlimited has a client that never waits before it sends a request.
const unlimited = "clientConnection: {qps: 100000, burst: 100000}\n"

// withPlugin is a configuration that enables a plugin.
func withPlugin(name string) string {
	return configuration + `profiles:
- plugins:
    multiPoint:
      enabled:
      - name: ` + name + "\n"
}

func ofNative() *variant {
	return &variant{
		name: "native",
		open: func(c *cluster) (session, error) {
			pl, err := plugin.New(background, nil, c.Handle)
			if err != nil {
				return nil, err
			}
			return pluginSession(c, pl), nil
		},
		serve: func(testing.TB) string { return withPlugin(plugin.Name) },
	}
}

var background = context.Background()

// inScheduler is a session with a plugin of the framework. It does what
// findNodesThatFitPod of kube-scheduler does, on one goroutine.
type inScheduler struct {
	cluster   *cluster
	prefilter fwk.PreFilterPlugin // nil if it has none
	filter    fwk.FilterPlugin
	state     fwk.CycleState
}

func pluginSession(c *cluster, pl fwk.Plugin) *inScheduler {
	prefilter, _ := pl.(fwk.PreFilterPlugin)
	return &inScheduler{cluster: c, prefilter: prefilter, filter: pl.(fwk.FilterPlugin)}
}

// Cycle implements session.
func (s *inScheduler) Cycle(pod *v1.Pod, feasible []string) ([]string, error) {
	nodes, skip, err := s.begin(pod)
	if skip {
		return s.cluster.names, nil // Filter does not run
	}
	for _, node := range nodes {
		if s.filter.Filter(background, s.state, pod, node).IsSuccess() {
			feasible = append(feasible, node.Node().Name)
		}
	}
	return feasible, err
}

// begin begins a cycle, and returns the nodes that Filter runs on.
func (s *inScheduler) begin(pod *v1.Pod) (nodes []fwk.NodeInfo, skip bool, err error) {
	s.state = framework.NewCycleState()
	if s.prefilter == nil {
		return s.cluster.Nodes, false, nil
	}
	result, status := s.prefilter.PreFilter(background, s.state, pod, s.cluster.Nodes)
	if status.IsSkip() || status.IsRejected() {
		return nil, status.IsSkip(), nil
	}
	if !status.IsSuccess() || result.AllNodes() {
		return s.cluster.Nodes, false, status.AsError()
	}
	for name := range result.NodeNames {
		if node, err := s.cluster.SnapshotSharedLister().NodeInfos().Get(name); err == nil {
			nodes = append(nodes, node)
		}
	}
	return nodes, false, nil
}

// EventsToRegister returns the plugin's events with their hints.
func (s *inScheduler) EventsToRegister(ctx context.Context) ([]fwk.ClusterEventWithHint, error) {
	return s.filter.(fwk.EnqueueExtensions).EventsToRegister(ctx)
}

// Close implements session.
func (*inScheduler) Close() error { return nil }

func TestEveryFloorIsBuiltFromTheSourceBesideIt(t *testing.T) { testkit.CheckGuests(t, "testdata") }

func ofGuest(name string, r role, wasm []byte) *variant {
	d := &variant{name: name, role: r, wasm: wasm}
	d.open = func(c *cluster) (session, error) { return openGuest(c, wasm, wasmhost.Args{}) }
	if r != floor {
		d.serve = func(tb testing.TB) string { return serveGuest(tb, wasm) }
	}
	return d
}

// askedAgain is a guest that the host calls for each pod, as for the first of its kind: there
// is no room for answers.
func askedAgain(name string, wasm []byte, timeout wasmhost.Timeout) *variant {
	return &variant{name: name, open: func(c *cluster) (session, error) {
		return openGuest(c, wasm, wasmhost.Args{AnswersLimit: resource.MustParse("1"), CallTimeout: timeout})
	}}
}

// guest is a session with a guest in the host of package scheduler.
type guest struct {
	*inScheduler
	host *wasmhost.Host
}

// opened numbers the guests: each has its own metrics.
var opened atomic.Int64

func openGuest(c *cluster, wasm []byte, args wasmhost.Args) (session, error) {
	args.GuestURL = "file://guest.wasm" // which is not read
	host := wasmhost.New(wasmhost.Options{Fetch: func(context.Context, wasmhost.Args) ([]byte, error) { return wasm, nil }})
	g := &guest{host: host}
	started, err := g.host.Start(background, fmt.Sprintf("Wasm%d", opened.Add(1)), args)
	if err != nil {
		return nil, err
	}
	pl := started.Plugin(background, c.Handle)
	if _, ok := pl.(fwk.FilterPlugin); !ok {
		return nil, errors.Join(errors.New("the guest has no filter"), g.host.Close())
	}
	g.inScheduler = pluginSession(c, pl)
	return g, nil
}

// Close implements session.
func (g *guest) Close() error { return g.host.Close() }

// serveGuest gives a guest to a real scheduler.
func serveGuest(tb testing.TB, wasm []byte) string {
	file := filepath.Join(tb.TempDir(), "guest.wasm")
	testkit.Must(tb, os.WriteFile(file, wasm, 0o600))
	return withPlugin("WasmRegexScheduling") + `  pluginConfig:
  - name: WasmRegexScheduling
    args:
      guestURL: file://` + file + "\n"
}

// ofExtender is the extender over loopback, which is sent full nodes or names.
func ofExtender(name string, names bool) *variant {
	return &variant{
		name: name, overHTTP: true,
		open: func(c *cluster) (session, error) {
			server, err := startExtender()
			if err != nil {
				return nil, err
			}
			return askExtender(c, "http://"+server.Address, names, server.Stop)
		},
		serve: func(tb testing.TB) string {
			server, err := startExtender()
			testkit.Must(tb, err)
			tb.Cleanup(func() { _ = server.Stop() })
			return configuration + fmt.Sprintf(`percentageOfNodesToScore: 100
extenders:
- urlPrefix: http://%s
  filterVerb: filter
  preemptVerb: preempt
  nodeCacheCapable: %v
  httpTimeout: 60s
`, server.Address, names)
		},
	}
}

func startExtender() (*extender.Running, error) {
	return extender.Start(extender.Options{Logger: logr.Discard(), Version: "bench"})
}

// overHTTP is a session with kube-scheduler's own client of extenders.
type overHTTP struct {
	cluster *cluster
	client  fwk.Extender
	close   func() error
}

func askExtender(c *cluster, url string, names bool, stop func() error) (session, error) {
	client, err := scheduler.NewHTTPExtender(&schedulerapi.Extender{
		URLPrefix: url, FilterVerb: "filter", NodeCacheCapable: names, HTTPTimeout: metav1.Duration{Duration: time.Minute},
	})
	return &overHTTP{cluster: c, client: client, close: stop}, err
}

// Cycle implements session. For a rejected pattern the error names the annotation, and no
// node passes.
func (s *overHTTP) Cycle(pod *v1.Pod, feasible []string) ([]string, error) {
	passed, _, _, err := s.client.Filter(pod, s.cluster.Nodes)
	if err != nil && !strings.Contains(err.Error(), regex.Annotation) {
		return nil, err
	}
	for _, node := range passed {
		feasible = append(feasible, node.Node().Name)
	}
	return feasible, nil
}

// Close implements session.
func (s *overHTTP) Close() error { return s.close() }
