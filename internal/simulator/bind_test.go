package simulator

import (
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/extenders"
)

// An extender of a real cluster's configuration may have the rights to bind there.
func TestExtenderIsSentABindOnlyWithExtenderBind(t *testing.T) {
	use(t, "native")
	extender := extenders.Start(t, "filter", "prioritize", "preempt")
	listen()
	apply(t, extender.Config(""))
	addNodes(t, "node-1")
	addPod(t, "bound-here", "")
	a := attempt(t, "bound-here", recorder.Scheduled)
	if a.Node != "node-1" || extender.Asked("filter") == 0 {
		t.Errorf("got %+v", a)
	}
	said := console.String()
	if !strings.Contains(said, "warning: extender "+extender.URL+": its bindVerb is not called") {
		t.Errorf("warned %q", said)
	}

	sim.settings.ExtenderBind = true
	t.Cleanup(func() { sim.settings.ExtenderBind = false })
	extender = extenders.Start(t, "filter", "prioritize", "preempt", "bind")
	listen()
	apply(t, extender.Config(""))
	addPod(t, "bound-there", "")
	eventually(t, "the extender is to bind the pod", func() bool { return len(extender.Binds()) > 0 })
	pod, bind := getPod(t, "default", "bound-there"), extender.Binds()[0]
	if bind.PodUID != pod.UID || bind.Node != "node-1" {
		t.Errorf("got %+v", bind)
	}
	said = console.String()
	if strings.Contains(said, "bindVerb") {
		t.Errorf("warned %q", said)
	}
}
