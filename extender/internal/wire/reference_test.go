package wire_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/internal/wire"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
)

// requests are as kube-scheduler sends them.
var requests = map[string][]byte{
	"full nodes": corpus.Full("kubecon-.*", 37), "names": corpus.Names("kubecon-.*", 37),
	"one full node": corpus.Full("", 1), "one name": corpus.Names("", 1), "no nodes": corpus.Full("", 0), "no names": corpus.Names("", 0),
}

// failuresOf fails some of n nodes, in a way that depends on which.
func failuresOf(n, which int) []*algorithm.Failure {
	kinds := []*algorithm.Failure{nil, {Reason: "full \"<up>\""}, {Reason: "wrong", Unresolvable: true}}
	failures := make([]*algorithm.Failure, n)
	for i := range failures {
		failures[i] = kinds[(i*i+i*which+which)%(2+which%2)]
	}
	return failures
}

// TestAnswersEqualTheAPITypes compares with what decoding to the API's
// types, filtering there and encoding again gives.
func TestAnswersEqualTheAPITypes(t *testing.T) {
	for name, body := range requests {
		r, err := wire.Read(body, free)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for which := range 8 {
			failures := failuresOf(len(r.Names), which)
			if which == 0 {
				failures = nil
			}
			answer := r.Filtered(failures)
			var text bytes.Buffer
			if err := answer.Send(&text); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var got extenderv1.ExtenderFilterResult
			if err := json.Unmarshal(text.Bytes(), &got); err != nil {
				t.Fatalf("%s: %v: %s", name, err, &text)
			}
			want, passed := reference(t, body, failures)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, failures %d:\ngot  %+v\nwant %+v", name, which, got, want)
			}
			if answer.Passed != passed {
				t.Errorf("%s, failures %d: %d passed, want %d", name, which, answer.Passed, passed)
			}
		}
	}
}

func reference(t *testing.T, body []byte, failures []*algorithm.Failure) (result extenderv1.ExtenderFilterResult, passed int) {
	var args extenderv1.ExtenderArgs
	testkit.Must(t, json.Unmarshal(body, &args))
	result.FailedNodes, result.FailedAndUnresolvableNodes = extenderv1.FailedNodesMap{}, extenderv1.FailedNodesMap{}
	passes := func(i int, name string) bool {
		if failures == nil || failures[i] == nil {
			passed++
			return true
		}
		if failures[i].Unresolvable {
			result.FailedAndUnresolvableNodes[name] = failures[i].Reason
		} else {
			result.FailedNodes[name] = failures[i].Reason
		}
		return false
	}
	if args.Nodes != nil {
		result.Nodes = &corev1.NodeList{ListMeta: args.Nodes.ListMeta, TypeMeta: args.Nodes.TypeMeta}
		if args.Nodes.Items != nil || failures != nil {
			result.Nodes.Items = []corev1.Node{}
		}
		for i, node := range args.Nodes.Items {
			if passes(i, node.Name) {
				result.Nodes.Items = append(result.Nodes.Items, node)
			}
		}
	}
	if args.NodeNames != nil {
		result.NodeNames = &[]string{}
		for i, name := range *args.NodeNames {
			if passes(i, name) {
				*result.NodeNames = append(*result.NodeNames, name)
			}
		}
	}
	return result, passed
}
