package scheduler

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

const configs = "../testdata/scheduler/"

func read(t *testing.T, file string) *Configuration {
	t.Helper()
	text, err := os.ReadFile(configs + file)
	if err != nil {
		t.Fatal(err)
	}
	return configuration(t, string(text))
}

func TestWasmPluginsOfAConfiguration(t *testing.T) {
	const folder = "file://../testdata/guests/"
	tests := []struct {
		name, file string
		want       []guest
	}{
		{name: "none", file: "good/no_plugins.json"},
		{name: "the native plugin is none", file: "good/native.yaml"},
		{
			name: "one, in the profile without a name", file: "good/one_guest.yaml",
			want: []guest{{profilePlugin{"default-scheduler", "WasmRegexScheduling"}, wasmhost.Args{GuestURL: folder + "empty_filter.wasm"}, "profiles[0].pluginConfig[0].args"}},
		},
		{
			name: "those of each profile, but not those that are not enabled", file: "good/many_guests.yaml",
			want: []guest{
				{profilePlugin{"default-scheduler", "First"}, wasmhost.Args{GuestURL: folder + "empty_filter.wasm"}, "profiles[0].pluginConfig[0].args"},
				{profilePlugin{"default-scheduler", "Second"}, wasmhost.Args{GuestURL: folder + "error_filter.wasm", GuestConfig: `{"colour": "red"}`, LogSeverity: 2}, "profiles[0].pluginConfig[1].args"},
				{profilePlugin{"other", "First"}, wasmhost.Args{GuestURL: folder + "permit.wasm"}, "profiles[1].pluginConfig[0].args"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, mistakes := read(t, tt.file).check((&setup{}).compiledIn())
			if mistakes != nil {
				t.Fatal(mistakes)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// Two profiles call different guests First, and each gets its own.
func TestEachProfileGetsTheGuestThatWasStartedForIt(t *testing.T) {
	s := &setup{host: &wasmhost.Host{}}
	defer s.host.Close()
	if err := s.read(t.Context(), read(t, "good/many_guests.yaml")); err != nil {
		t.Fatal(err)
	}
	made := func(profile string) (fwk.Plugin, error) {
		return s.factory("First")(t.Context(), nil, profileHandle{name: profile})
	}
	for profile, permits := range map[string]bool{"default-scheduler": false, "other": true} {
		plugin, err := made(profile)
		if err != nil {
			t.Fatal(err)
		}
		if _, is := plugin.(fwk.PermitPlugin); is != permits || plugin.Name() != "First" {
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

func TestAGuestMayNotTakeTheNameOfAnExtraPlugin(t *testing.T) {
	if _, mistakes := read(t, "good/one_guest.yaml").check(sets.New("WasmRegexScheduling")); mistakes == nil {
		t.Error("it may")
	}
}

// TestAnErrorPointsAtItsArg makes each error by the args that it is about.
func TestAnErrorPointsAtItsArg(t *testing.T) {
	const guest = "guestURL: 'http://static-webserver/empty_filter.wasm', "
	for field, args := range map[string]string{
		"guestURL":         "guestURL: 'http://nowhere/guest.wasm'",
		"guestConfig":      "guestConfig: '{\"colour\": \"red\"}', guestURL: 'http://static-webserver/config_refused.wasm'",
		"logSeverity":      guest + "logSeverity: 4",
		"guestSHA256":      guest + "guestSHA256: '" + strings.Repeat("00", 32) + "'",
		"guestSizeLimit":   guest + "guestSizeLimit: 10",
		"memoryLimit":      "memoryLimit: 1Mi, guestURL: 'http://static-webserver/regex_v2.wasm'",
		"callTimeout":      guest + "callTimeout: soon",
		"instances":        guest + "instances: 2",
		"compilationCache": guest + "compilationCache: 1",
		"guestSHA265":      guest + "guestSHA265: ''",
	} {
		err := Run(t.Context(), Options{Config: profileWith(t, "Wasm", "{"+args+"}"), Transport: inProcess{}})
		var found Mistakes
		if !errors.As(err, &found) || len(found) != 1 || found[0].Field != "profiles[0].pluginConfig[0].args."+field {
			t.Errorf("%s: %v points at %+v", field, err, found)
		}
	}
}
