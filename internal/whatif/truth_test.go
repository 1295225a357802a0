package whatif_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/drain"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/fit"
)

// truth is the live.json of a folder of testdata/truth: a question about its cluster.yaml, and what a live cluster came to. A
// question with manifests is a rollout of m.yaml.
type truth struct {
	Question string
	Input    string // what was done to cluster.yaml since it was read, if anything
	Ask      struct {
		Drain, Fail, Upgrade []string
		UntilFull            bool
		GrowWith             bool // node.yaml
	}
	Live struct {
		L     map[string]*rolled // by workload
		O     map[string]int     // pods of others that have no node, by workload
		Lost  map[string]int     // pods without a node, by workload, of a question without manifests
		More  map[string]int     // how many more replicas fit, by workload, of the question until full
		Nodes int                // how many more nodes are needed, of the question what to grow with
	}
}

// rolled is the result for a workload.
type rolled struct {
	Run  int // pods of the newest revision that run
	Pend int
	Want *int  // nil: what depends on nodes
	Old  int   // pods of an older revision that are left
	Done *bool // whether the rollout ended; nil: it is no rollout
}

// TestAnswersAreWhatLiveClustersCameTo asks each question of testdata/truth.
func TestAnswersAreWhatLiveClustersCameTo(t *testing.T) {
	folders, err := filepath.Glob("testdata/truth/*")
	testkit.Must(t, err)
	if len(folders) == 0 {
		t.Fatal("there is no question")
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(folder, "live.json"))
			testkit.Must(t, err)
			var of truth
			testkit.Must(t, json.Unmarshal(text, &of))
			if len(of.Ask.Drain)+len(of.Ask.Fail)+len(of.Ask.Upgrade) > 0 {
				of.checkLost(t, folder)
			} else {
				of.checkRolled(t, folder)
			}
		})
	}
}

// optionsOf is the cluster of a folder, without plugins of ours.
func optionsOf(t *testing.T, folder string) engine.Options {
	t.Helper()
	file, err := os.Open(filepath.Join(folder, "cluster.yaml"))
	testkit.Must(t, err)
	defer file.Close()
	cluster, _, err := snapshot.Read(file)
	testkit.Must(t, err)
	text, err := os.ReadFile("../simulator/variants/none.yaml")
	testkit.Must(t, err)
	config, err := kubescheduler.Read(text)
	testkit.Must(t, err)
	return engine.Options{Config: config, Cluster: cluster, Seed: 1}
}

func (of *truth) checkLost(t *testing.T, folder string) {
	t.Helper()
	o := drain.Options{Options: optionsOf(t, folder), Nodes: slices.Concat(of.Ask.Drain, of.Ask.Fail, of.Ask.Upgrade)}
	ask := drain.Drain
	switch {
	case len(of.Ask.Fail) > 0:
		ask = drain.Fail
	case len(of.Ask.Upgrade) > 0:
		ask = drain.Upgrade
	}
	result, err := ask(t.Context(), o)
	testkit.Must(t, err)
	lost := map[string]int{}
	for _, move := range result.Moves {
		if move.To == "" {
			lost[move.Workload]++
		}
	}
	if len(lost)+len(of.Live.Lost) > 0 && !reflect.DeepEqual(lost, of.Live.Lost) {
		t.Errorf("%s: lost %v, live %v: %+v", of.Question, lost, of.Live.Lost, result.Moves)
	}
}

var oldLeft = regexp.MustCompile(`^(\d+) pods? of the old revision left`)

func (of *truth) checkRolled(t *testing.T, folder string) {
	t.Helper()
	manifests, err := fit.Read([]string{filepath.Join(folder, "m.yaml")}, nil, fit.Namespace{})
	testkit.Must(t, err)
	o := fit.Options{Options: optionsOf(t, folder), Manifests: manifests, UntilFull: of.Ask.UntilFull}
	ask := fit.Rollout
	if of.Ask.UntilFull || of.Ask.GrowWith {
		ask = fit.Fit
	}
	if of.Ask.GrowWith {
		o.GrowWith, err = fit.ReadNode(filepath.Join(folder, "node.yaml"), nil)
		testkit.Must(t, err)
	}
	result, err := ask(t.Context(), o)
	testkit.Must(t, err)
	if of.Ask.GrowWith && result.Growth.Nodes != of.Live.Nodes {
		t.Errorf("%s: %d more nodes, live %d", of.Question, result.Growth.Nodes, of.Live.Nodes)
	}
	if len(result.Basis.Before) > 0 {
		t.Errorf("%s: before the question: %q", of.Question, result.Basis.Before)
	}
	others := map[string]int{}
	for _, move := range result.Preempted {
		if move.To == "" {
			others[move.Workload]++
		}
	}
	if len(others)+len(of.Live.O) > 0 && !reflect.DeepEqual(others, of.Live.O) {
		t.Errorf("%s: others without a node: %v, live %v", of.Question, others, of.Live.O)
	}
	for _, w := range result.Workloads {
		if of.Ask.UntilFull {
			more := of.Live.More[strings.TrimSuffix(w.String(), "-more")]
			if w.Fit != more {
				t.Errorf("%s: %s: %d more fit, live %d", of.Question, w, w.Fit, more)
			}
			continue
		}
		of.Live.L[w.String()].check(t, of.Question, w)
	}
}

func (live *rolled) check(t *testing.T, question string, w *fit.Workload) {
	t.Helper()
	if live == nil {
		t.Fatalf("%s: nothing is known of %s", question, w)
	}
	pending := 0
	for _, n := range w.Why {
		pending += n
	}
	for _, n := range w.NotCreated {
		pending += n
	}
	wantPending := live.Pend
	if live.Want != nil {
		wantPending = *live.Want - live.Run
	}
	old := 0
	left := oldLeft.FindStringSubmatch(w.Stuck)
	if left != nil {
		old, _ = strconv.Atoi(left[1])
	}
	ends := w.Stuck == "" && (pending == 0 || w.InTurn)
	if w.Fit != live.Run || pending != wantPending || old != live.Old || live.Done != nil && ends != *live.Done {
		t.Errorf("%s: %s: fit %d, pending %d, old %d, ends %t; live: fit %d, pending %d, old %d, done %v: %s, %v, %v",
			question, w, w.Fit, pending, old, ends, live.Run, wantPending, live.Old, live.Done, w.Stuck, w.Why, w.NotCreated)
	}
}
