package side

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// A result is saved and shown: it has no password of a URL.
func TestSetupHasNoSecretsOfURLs(t *testing.T) {
	file := &config.KubeSchedulerConfiguration{Extenders: []config.Extender{{URLPrefix: "http://me:secret@extender/x?token=secret", PreemptVerb: "preempt"}}}
	profile := &config.KubeSchedulerProfile{PluginConfig: []config.PluginConfig{
		{Name: "Wasm", Args: &runtime.Unknown{Raw: []byte(`{"guestURL": "oci://me:secret@ghcr.io/x:1", "guestConfig": "a"}`)}},
	}}
	enabled := &config.Plugins{Filter: config.PluginSet{Enabled: []config.Plugin{{Name: "Wasm"}}}}
	text, err := json.Marshal(NewSetup(file, profile, enabled))
	testkit.Must(t, err)
	for _, want := range []string{`"http://xxxxx@extender/x?xxxxx":{`, `"urlPrefix":"http://xxxxx@extender/x?xxxxx"`, `"guestURL":"oci://xxxxx@ghcr.io/x:1"`, `"guestConfig":"a"`} {
		if !strings.Contains(string(text), want) || strings.Contains(string(text), "secret") {
			t.Errorf("no %s in %s", want, text)
		}
	}
}
