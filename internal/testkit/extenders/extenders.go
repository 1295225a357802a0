// Package extenders has an extender for tests that lets all nodes pass, and that keeps what it is sent.
package extenders

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// Extender is one that runs.
type Extender struct {
	URL string

	mu    sync.Mutex
	binds []extenderv1.ExtenderBindingArgs
	verbs map[string]int
}

// Start runs an extender. Any request but a POST of an allowed verb fails the test.
func Start(t testing.TB, allowed ...string) *Extender {
	e := &Extender{verbs: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		verb := r.URL.Path[1:]
		if r.Method != http.MethodPost || !slices.Contains(allowed, verb) {
			t.Errorf("the extender was sent %s %s", r.Method, r.URL)
		}
		answer, err := e.answer(verb, json.NewDecoder(r.Body))
		if err != nil {
			t.Errorf("%s: %v", verb, err)
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	e.URL = server.URL
	return e
}

func (e *Extender) answer(verb string, body *json.Decoder) (any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.verbs[verb]++
	switch verb {
	case "bind":
		var args extenderv1.ExtenderBindingArgs
		err := body.Decode(&args)
		e.binds = append(e.binds, args)
		return extenderv1.ExtenderBindingResult{}, err
	case "prioritize":
		return extenderv1.HostPriorityList{}, nil
	case "preempt":
		var args extenderv1.ExtenderPreemptionArgs
		err := body.Decode(&args)
		victims := map[string]*extenderv1.MetaVictims{}
		for node, those := range args.NodeNameToVictims {
			victims[node] = &extenderv1.MetaVictims{NumPDBViolations: those.NumPDBViolations}
			for _, pod := range those.Pods {
				victims[node].Pods = append(victims[node].Pods, &extenderv1.MetaPod{UID: string(pod.UID)})
			}
		}
		return extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: victims}, err
	}
	var args extenderv1.ExtenderArgs
	err := body.Decode(&args)
	return extenderv1.ExtenderFilterResult{Nodes: args.Nodes, NodeNames: args.NodeNames}, err
}

// Config is a configuration with the extender, which has all verbs. More are further fields of it.
func (e *Extender) Config(more string) string {
	return fmt.Sprintf("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders:\n"+
		"- {urlPrefix: %q, filterVerb: filter, prioritizeVerb: prioritize, weight: 1, preemptVerb: preempt, bindVerb: bind%s}\n", e.URL, more)
}

// Binds are the requests to bind so far.
func (e *Extender) Binds() []extenderv1.ExtenderBindingArgs {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.binds)
}

// Asked is how often the extender was sent a verb.
func (e *Extender) Asked(verb string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.verbs[verb]
}
