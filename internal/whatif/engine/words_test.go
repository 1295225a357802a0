package engine

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/private"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
)

// inOtherWords is a plugin whose reasons have other words than Kubernetes'.
type inOtherWords struct{ fwk.FilterPlugin }

func (p inOtherWords) Filter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	status := p.FilterPlugin.Filter(ctx, state, pod, node)
	if status.IsSuccess() {
		return status
	}
	return fwk.NewStatus(status.Code(), fmt.Sprintf("%s, 1 says no. to it", p.Name()))
}

// implementation is the framework that has the plugins of a profile.
func implementation(of framework.Framework) framework.Framework {
	for {
		next := reflect.ValueOf(of).Elem().FieldByName("Framework")
		if !next.IsValid() {
			return of
		}
		of = next.Interface().(framework.Framework)
	}
}

func TestNoSentenceOfTheSchedulerIsTakenApart(t *testing.T) {
	for name, recorded := range map[string]*recorder.Recorder{"unrecorded": nil, "recorded": recorder.New(func() {}), "sparsely": recorder.NewSparse(1 << 20)} {
		t.Run(name, func(t *testing.T) {
			nodes := "nodes:\n" + node("small", "1") + node("smaller", "500m") + `- metadata: {name: cordoned}
  spec: {unschedulable: true}
  status: {allocatable: {cpu: "8", memory: 8Gi, pods: "10"}}
`
			s := read(t, nodes+"pods:\n"+pod("a", "", "2", ""))
			e := over(t, s, func(o *Options) { o.Recorder = recorded })
			private.Wrap(implementation(e.Scheduler.Kube.Profiles["default-scheduler"]), "filterPlugins", func(p fwk.FilterPlugin) fwk.FilterPlugin { return inOtherWords{p} })
			settle(t, e)
			against := e.Outcome(types.NamespacedName{Namespace: "default", Name: "a"}).Against
			if !slices.Equal(against.Reasons, []string{"NodeResourcesFit, 1 says no. to it"}) || !slices.Equal(against.Lacking, []string{"cpu"}) {
				t.Errorf("against it: %+v", against)
			}
			if recorded == nil {
				return
			}
			a, _ := recorded.Latest("default", "a")
			const because = " because none of the cluster's 3 nodes can run it: 2 nodes do not have enough free cpu; 1 node is cordoned"
			if a.Because(a.Message) != because || len(a.Shortages) != 1 || a.Shortages[0].String() != "2 nodes lack cpu: 2 asked, most free is 1" {
				t.Errorf("%s\n%v", a.Because(a.Message), a.Shortages)
			}
		})
	}
}
