package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
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
