package wasmhost

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// binder is a plugin whose guest takes part in binding.
type binder interface {
	fwk.PreFilterPlugin
	fwk.FilterPlugin
	fwk.ReservePlugin
	fwk.PermitPlugin
	fwk.PreBindPlugin
	fwk.BindPlugin
	fwk.PostBindPlugin
}

// passing is a pod on its way.
type passing struct {
	t     *testing.T
	guest binder
	state fwk.CycleState
	pod   *v1.Pod
}

// begins schedules a pod up to the end of its Permit.
func begins(t *testing.T, guest binder, name string) passing {
	p := passing{t, guest, framework.NewCycleState(), pod(name)}
	preFilter(t.Context(), guest, p.state, p.pod)
	p.guest.Reserve(t.Context(), p.state, p.pod, "n")
	status, _ := p.guest.Permit(t.Context(), p.state, p.pod, "n")
	testkit.Succeeds(t, status)
	return p
}

func (p passing) preBind() string {
	return p.guest.PreBind(p.t.Context(), p.state, p.pod, "n").Message()
}

func (p passing) postBind()  { p.guest.PostBind(p.t.Context(), p.state, p.pod, "n") }
func (p passing) unreserve() { p.guest.Unreserve(p.t.Context(), p.state, p.pod, "n") }

// Each pod's calls begin with its own PreFilter, though there is one instance for all of them.
func TestPodsInBindingShareTheInstance(t *testing.T) {
	guest := open(t, "remember_permit").(binder)
	a := begins(t, guest, "first.")
	testkit.Equal(t, a.preBind(), "first.RPB", "before there is another pod")
	b := begins(t, guest, "second")
	next := framework.NewCycleState()
	preFilter(t.Context(), guest, next, pod("third."))
	testkit.Equal(t, b.preBind(), "secondB", "the second pod") // what Reserve and Permit have left is gone
	testkit.Equal(t, guest.Filter(t.Context(), next, pod("third."), node("n")).Message(), "third.", "the pod that is being scheduled")
	testkit.Has(t, logged(t, func() { a.unreserve() }), "first.")
}

// Neither PostBind nor Unreserve is called of them, as where a profile has disabled PostBind.
func TestPodsWhoseBindingDoesNotEndKeepNoInstance(t *testing.T) {
	guest := openCounted(t, "remember_permit", Args{}).(binder)
	for i := range 20 {
		begins(t, guest, fmt.Sprintf("p%05d", i)).preBind()
	}
	testkit.Equal(t, gauge(t, instances), 1, "instances")
}

// Pods are bound, and trap, beside the scheduling cycle of another one.
func TestPodsThatAreBoundAtOnceDoNotMeet(t *testing.T) {
	guest := open(t, "trap_prebind").(binder)
	traps.Reset()
	var group sync.WaitGroup
	for i := range 20 {
		p := begins(t, guest, fmt.Sprintf("%c%05d", "tp"[i%2], i))
		group.Go(func() {
			status := guest.PreBind(t.Context(), p.state, p.pod, "n")
			if (i%2 == 0) != (status.Code() == fwk.Error) || i%2 == 1 && status.Message() != p.pod.Name {
				t.Errorf("%s: %v", p.pod.Name, status)
			}
			p.postBind()
		})
		state, next := framework.NewCycleState(), pod(fmt.Sprintf("n%05d", i))
		preFilter(t.Context(), guest, state, next)
		testkit.Equal(t, guest.Filter(t.Context(), state, next, node("n")).Message(), next.Name, "beside the binding of others, the guest sees")
	}
	group.Wait()
	testkit.Equal(t, counted(t, traps), 10, "traps")
}

func TestHookThatTheGuestDoesNotHaveLetsTheOthersBind(t *testing.T) {
	guest := open(t, "remember_permit").(binder)
	status := guest.Bind(t.Context(), framework.NewCycleState(), pod("web"), "n")
	testkit.Equal(t, status.IsSkip(), true, "bind: %v", status)
	asked := minor.Called{PreBindPlugin: open(t, "permit").(fwk.PreBindPlugin), Around: func(_ context.Context, c minor.Call) func() {
		return func() { status = *c.Status }
	}}
	asked.PreBindPreFlight(t.Context(), framework.NewCycleState(), pod("web"), "n")
	testkit.Equal(t, status.IsSkip(), true, "prebind: %v", status)
}

// logged is what klog writes during a call.
func logged(t *testing.T, call func()) string {
	t.Helper()
	var buffer bytes.Buffer
	klog.LogToStderr(false)
	defer klog.LogToStderr(true) // klog's own Restore races with informers that log
	klog.SetOutput(&buffer)
	call()
	klog.Flush()
	return buffer.String()
}

// In the binding cycle a guest sees the nodes that the informers know: the
// snapshot is being renewed meanwhile.
func TestNodesInTheBindingCycleAreNotTheSnapshots(t *testing.T) {
	h := &informedHandle{handle: aHandle(), factory: informers.NewSharedInformerFactory(fake.NewClientset(), 0)}
	image := v1.ContainerImage{Names: []string{"nginx", "nginx:1"}, SizeBytes: 42}
	informed := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"from": "the informer"}}}
	informed.Status.Images = []v1.ContainerImage{image, {Names: []string{"nginx", "redis"}, SizeBytes: 42}}
	other := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Status: v1.NodeStatus{Images: []v1.ContainerImage{image}}}
	for _, node := range []*v1.Node{informed, other} {
		testkit.Must(t, h.factory.Core().V1().Nodes().Informer().GetStore().Add(node))
	}
	for config, want := range map[string]string{
		"ia": marshalled(informed), "ib": marshalled(other), "knone": "null",
		"ka": `{"nginx":{"Size":42,"NumNodes":2,"Nodes":null},"nginx:1":{"Size":42,"NumNodes":2,"Nodes":null},"redis":{"Size":42,"NumNodes":1,"Nodes":null}}`,
	} {
		guest, p, state := openWith(t, mirrorGuest, Args{GuestConfig: config}, h).(everyHook), pod("web"), framework.NewCycleState()
		_, status := guest.PreFilter(t.Context(), state, p, nil)
		if config != "knone" && reflected(status) == want {
			t.Errorf("%s: the scheduling cycle has it from the informer", config)
		}
		guest.Permit(t.Context(), state, p, "a")
		testkit.Equal(t, reflected(guest.PreBind(t.Context(), state, p, "a")), want, "%s", config)
	}
}

type informedHandle struct {
	*handle
	factory informers.SharedInformerFactory
}

func (h *informedHandle) SharedInformerFactory() informers.SharedInformerFactory { return h.factory }
