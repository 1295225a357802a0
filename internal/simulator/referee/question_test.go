package referee_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd/apply"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/capture"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/digest"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/scenarios"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/drain"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/fit"
)

// question is the first document of a case that is a question to a command.
type question struct {
	Steps []struct { // that make the cluster as it is asked about, each one of these
		Apply, Create json.RawMessage
		Patch         []json.RawMessage
		Delete        []string
	}
	Ask       string // a command, or a flag of fit
	Nodes     []string
	Manifests []json.RawMessage
}

// compareAsked makes the cluster of a question, has a command answer, of what it reads there, and then does live what was asked.
func (h *hunter) compareAsked(ctx context.Context, c huntCase) found {
	f := h.asked(ctx, c)
	if f.verdict == "differs" {
		again := h.asked(ctx, c)
		if again.verdict != f.verdict || !slices.Equal(again.live, f.live) {
			f.verdict = "unsteady"
		}
	}
	return f
}

func (h *hunter) asked(ctx context.Context, c huntCase) (f found) {
	q := &question{}
	convert(c["change"], q)
	f.err = attempted(ctx, func(t scenarios.T) {
		h.prepare(t, q, c)
		f.before = h.capture(t)
	})
	f.verdict = "invalid"
	for seed := uint64(0); f.err == nil && seed < 4; seed++ {
		var lines []string
		lines, f.err = q.answer(ctx, f.before.DeepCopy(), seed)
		slices.Sort(lines)
		if seed > 0 && f.err == nil && !slices.Equal(lines, f.predicted) {
			return found{verdict: "chance"}
		}
		f.predicted = lines
	}
	if f.err != nil {
		return f
	}
	f.verdict = "differs"
	f.err = attempted(ctx, func(t scenarios.T) { f.live = h.do(t, q, f.before, f.predicted) })
	if f.err == nil && slices.Equal(f.live, f.predicted) {
		f.verdict = "same"
	}
	return f
}

// prepare makes the cluster of a question. What is rejected stays as it was.
func (h *hunter) prepare(t scenarios.T, q *question, c huntCase) {
	s, err := huntCase{"change": object{}, "cluster": c["cluster"]}.Scenario()
	testkit.Must(t, err)
	h.reset(t, s)
	for _, one := range q.Steps {
		switch {
		case one.Apply != nil:
			_ = h.apply(t.Context(), one.Apply)
		case one.Create != nil:
			of := &snapshot.Snapshot{}
			_, err := of.AddManifest(one.Create)
			testkit.Must(t, err)
			_ = h.Import(t.Context(), of, nil)
		default:
			(&scenarios.Scenario{Patch: one.Patch, Delete: one.Delete, Each: func() {}}).Change(t, h.AdminConfig())
		}
		h.until(t, nil, nil)
	}
}

// capture reads the cluster as a command does.
func (h *hunter) capture(t scenarios.T) *snapshot.Snapshot {
	s, err := capture.Read(t.Context(), capture.Options{Kubeconfig: h.Kubeconfig()})
	testkit.Must(t, err)
	return s
}

// apply is kubectl apply.
func (h *hunter) apply(ctx context.Context, manifest []byte) error {
	file := filepath.Join(h.scratch, "manifest.json")
	err := os.WriteFile(file, manifest, 0o600)
	if err != nil {
		return err
	}
	defer cmdutil.DefaultBehaviorOnFatal()
	cmdutil.BehaviorOnFatal(func(message string, _ int) { panic(failure{errors.New(message)}) })
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = ptr.To(h.Kubeconfig())
	flags.CacheDir = &h.scratch
	cmd := apply.NewCmdApply("kubectl", cmdutil.NewFactory(flags), genericiooptions.NewTestIOStreamsDiscard())
	cmd.SetArgs([]string{"-f", file})
	return attempted(ctx, func(scenarios.T) { _ = cmd.Execute() }) // which is fatal on an error
}

// answer is what a command says of a snapshot: for odd seeds, of one as "simulator snapshot" writes it.
func (q *question) answer(ctx context.Context, of *snapshot.Snapshot, seed uint64) ([]string, error) {
	if seed%2 == 1 {
		var file bytes.Buffer
		err := cmp.Or(digest.Snapshot(of, nil), of.WriteYAML(&file))
		if err != nil {
			return nil, err
		}
		of, _, err = snapshot.Read(&file)
		if err != nil {
			return nil, err
		}
	}
	text, err := simulator.SchedulerConfig("none")
	if err != nil {
		return nil, err
	}
	config, err := kubescheduler.Read(text)
	if err != nil {
		return nil, err
	}
	o := engine.Options{Config: config, Cluster: of, Seed: seed}
	command := map[string]func(context.Context, drain.Options) (*drain.Result, error){"drain": drain.Drain, "fail": drain.Fail, "upgrade": drain.Upgrade}[q.Ask]
	if command != nil && len(q.Nodes) == 0 {
		return nil, errors.New("a case that was made smaller has no nodes")
	}
	if command != nil {
		result, err := command(ctx, drain.Options{Options: o, Nodes: q.Nodes})
		if err != nil {
			return nil, err
		}
		return leftLines(result), nil
	}
	manifests, err := fit.Read([]string{"-"}, bytes.NewReader(bytes.Join(rawOf(q.Manifests), []byte("\n---\n"))), fit.Namespace{})
	if err != nil {
		return nil, err
	}
	fits := fit.Options{Options: o, Manifests: manifests, UntilFull: q.Ask == "until-full"}
	if q.Ask == "grow-with" {
		like := slices.IndexFunc(of.Nodes, func(n v1.Node) bool { return slices.Contains(q.Nodes, n.Name) })
		if like < 0 {
			return nil, fmt.Errorf("none of the nodes %v is there", q.Nodes)
		}
		fits.GrowWith = of.Nodes[like].DeepCopy()
	}
	try := fit.Fit
	if q.Ask == "rollout" {
		try = fit.Rollout
	}
	result, err := try(ctx, fits)
	if err != nil {
		return nil, err
	}
	return q.fitLines(result), nil
}

func rawOf(all []json.RawMessage) (raw [][]byte) {
	for _, one := range all {
		raw = append(raw, one)
	}
	return raw
}

// leftLines say how many pods of which workload have no node but one that goes.
func leftLines(r *drain.Result) []string {
	lost := map[string]int{}
	for _, move := range r.Moves {
		if move.To == "" && !strings.HasPrefix(move.Workload, "DaemonSet ") {
			lost[cmp.Or(move.Workload, "Pod "+move.Pod)]++
		}
	}
	lines := countLines("without a node", lost)
	if r.Upgrade {
		lines = append(lines, fmt.Sprintf("%d nodes are replaced", len(r.Go)))
	}
	return lines
}

func countLines(what string, of map[string]int) (lines []string) {
	for name, n := range of {
		if n > 0 {
			lines = append(lines, fmt.Sprintf("%s: %d %s", name, n, what))
		}
	}
	return lines
}

var oldLeft = regexp.MustCompile(`^(\d+) pods? of the old revision left`)

// fitLines say how many pods of the newest revision of each workload have a node, and which others have none any more.
func (q *question) fitLines(f *fit.Fitting) (lines []string) {
	ours, lost := map[string]bool{}, map[string]int{}
	for _, w := range f.Workloads {
		ours[w.String()] = true
		without, old := 0, 0
		reasons := []map[string]int{w.Why, w.NotCreated}
		if w.Kind == "DaemonSet" {
			reasons = reasons[:1] // live, nothing says how many it would create
		}
		for _, why := range reasons {
			for _, n := range why {
				without += n
			}
		}
		left := oldLeft.FindStringSubmatch(w.Stuck)
		if left != nil {
			old, _ = strconv.Atoi(left[1]) // which are digits; pending ones count, too
		} else if w.Unchanged != "" {
			old = w.Old()
		}
		lines = append(lines, q.workloadLine(w.String(), w.Fit, without, old))
	}
	for _, move := range f.Preempted {
		name := cmp.Or(move.Workload, "Pod "+move.Pod)
		if move.To == "" && !ours[name] && !strings.HasPrefix(name, "DaemonSet ") {
			lost[name]++
		}
	}
	if f.Growth != nil {
		lines = append(lines, fmt.Sprintf("%d more nodes", f.Growth.Nodes))
	}
	return slices.Concat(lines, countLines("preempted", lost), countLines("rejected", map[string]int{"others": len(f.Rejected)}))
}

func (q *question) workloadLine(name string, fit, without, old int) string {
	switch q.Ask {
	case "until-full":
		return fmt.Sprintf("%s: %d", name, fit)
	case "rollout":
		return fmt.Sprintf("%s: %d fit, %d do not, %d old", name, fit, without, old)
	}
	return fmt.Sprintf("%s: %d fit, %d do not", name, fit, without)
}
