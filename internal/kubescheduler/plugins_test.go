package kubescheduler

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"wasmkwokwizardry.io/regex-scheduling/fetch"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

const configs = "../testdata/scheduler/"

func read(t *testing.T, file string) *Configuration {
	t.Helper()
	text := testkit.ReadFile(t, configs+file)
	return configuration(t, string(text))
}

// Two profiles call different guests First, and each gets its own.
func TestProfileGetsTheGuestThatWasStartedForIt(t *testing.T) {
	p := &Plugins{Host: wasmhost.New(fetch.Fetcher{}.Options())}
	defer p.Host.Close()
	_, err := p.Start(t.Context(), read(t, "good/many_guests.yaml"))
	testkit.Must(t, err)
	made := func(profile string) (fwk.Plugin, error) {
		return p.factory("First")(t.Context(), nil, profileHandle{name: profile})
	}
	for profile, permits := range map[string]bool{"default-scheduler": false, "other": true} {
		plugin, err := made(profile)
		testkit.Must(t, err)
		_, is := plugin.(fwk.PermitPlugin)
		if is != permits || plugin.Name() != "First" {
			t.Errorf("%s: %s is a %T", profile, plugin.Name(), plugin)
		}
	}
	if _, err := made("third"); err == nil {
		t.Error("a profile without the guest gets one")
	}
}

// profileHandle is as much of a framework as a factory asks.
type profileHandle struct {
	fwk.Handle
	name string
}

func (h profileHandle) ProfileName() string { return h.name }

func (h profileHandle) SharedInformerFactory() informers.SharedInformerFactory {
	return informers.NewSharedInformerFactory(nil, 0)
}

func TestGuestMayNotTakeTheNameOfAnExtraPlugin(t *testing.T) {
	_, mistakes := read(t, "good/one_guest.yaml").check(sets.New("WasmRegexScheduling"))
	if mistakes == nil {
		t.Error("it may")
	}
}

// TestErrorPointsAtItsArg makes each error by the args that it is about.
func TestErrorPointsAtItsArg(t *testing.T) {
	const guest = "guestURL: 'http://static-webserver/empty_filter.wasm', "
	for field, args := range map[string]string{
		"guestURL":         "guestURL: 'http://unknown/guest.wasm'",
		"guestConfig":      "guestConfig: '{\"colour\": \"red\"}', guestURL: 'http://static-webserver/config_refused.wasm'",
		"logSeverity":      guest + "logSeverity: 4",
		"guestSHA256":      guest + "guestSHA256: '" + strings.Repeat("00", 32) + "'",
		"guestSizeLimit":   guest + "guestSizeLimit: 10",
		"memoryLimit":      "memoryLimit: 1Mi, guestURL: 'http://static-webserver/regex_v2.wasm'",
		"callTimeout":      guest + "callTimeout: soon",
		"instances":        guest + "instances: 2",
		"compilationCache": guest + "compilationCache: /var/cache",
		"guestSHA265":      guest + "guestSHA265: ''",
	} {
		err := Run(t.Context(), Options{Config: profileWith(t, "Wasm", "{"+args+"}"), Transport: inProcess{}})
		var found Mistakes
		if !errors.As(err, &found) || len(found) != 1 || found[0].Field != "profiles[0].pluginConfig[0].args."+field {
			t.Errorf("%s: %v points at %+v", field, err, found)
		}
	}
}

func TestPluginOfOthersHasANameOfItsOwn(t *testing.T) {
	for _, name := range []string{"NodeName", "RegexScheduling", "Mine"} {
		_, err := Registry(app.WithPlugin("Mine", nil), app.WithPlugin(name, nil))
		testkit.Equal(t, testkit.Message(err), "add plugins: a plugin named "+name+" already exists", "the error")
	}
	registry, err := Registry(app.WithPlugin("Mine", nil))
	testkit.Must(t, err)
	testkit.Equal(t, len(registry), 1, "plugins")
}
