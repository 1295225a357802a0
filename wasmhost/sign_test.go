package wasmhost

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// The framework itself says whether it signs a pod, and so whether it batches.
func TestPodsOfAGuestThatSaysWhatItDecidesByAreSigned(t *testing.T) {
	metrics.Register()
	const silent, binds = "the guest does not declare what it decides by", "the guest takes part in reserve, permit or binding"
	for guest, why := range map[string]string{"decides_by": "", "empty_filter": silent, "decides_by_reserve": binds} {
		t.Run(guest, func(t *testing.T) {
			var profile fwk.Handle
			log := logged(t, func() { profile = newFramework(t, guest) })
			signs := why == ""
			logged := strings.Contains(log, "opportunistic batching is off for all pods of its profile: "+why)
			if logged == signs {
				t.Errorf("the start says %q", log)
			}
			web, same, other := pod("web"), pod("same"), pod("other")
			web.Annotations = map[string]string{"a": "1", "b": "2"}
			same.Annotations = map[string]string{"b": "3", "a": "1"}
			other.Annotations = map[string]string{"a": "2"}
			signature := string(minor.Sign(t.Context(), profile, web))
			if (signature != "") != signs {
				t.Fatalf("signature %q", signature)
			}
			if !signs {
				return
			}
			if got := string(minor.Sign(t.Context(), profile, same)); got != signature {
				t.Errorf("the same declared annotation: %q and %q", got, signature)
			}
			got := string(minor.Sign(t.Context(), profile, other))
			if got == signature {
				t.Errorf("another one: %q too", got)
			}
		})
	}
}

// newFramework makes a profile of the framework's with a guest enabled.
func newFramework(t *testing.T, guest string) fwk.Handle {
	t.Helper()
	h := New(Options{})
	t.Cleanup(func() { h.Close() })
	registry := frameworkruntime.Registry{
		"Wasm": h.PluginFactory("Wasm"), queuesort.Name: queuesort.New, defaultbinder.Name: defaultbinder.New,
	}
	one := func(name string) config.PluginSet { return config.PluginSet{Enabled: []config.Plugin{{Name: name}}} }
	profile := &config.KubeSchedulerProfile{
		SchedulerName: "default-scheduler",
		Plugins:       &config.Plugins{MultiPoint: one("Wasm"), QueueSort: one(queuesort.Name), Bind: one(defaultbinder.Name)},
		PluginConfig: []config.PluginConfig{{
			Name: "Wasm", Args: &runtime.Unknown{Raw: []byte(`{"guestURL": "file://` + guests + guest + `.wasm"}`)},
		}},
	}
	client := fake.NewClientset()
	framework, err := frameworkruntime.NewFramework(t.Context(), registry, profile,
		frameworkruntime.WithClientSet(client), frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(client, 0)))
	testkit.Must(t, err)
	return framework
}
