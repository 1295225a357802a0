package scheduler

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"k8s.io/client-go/informers"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

const configs = "../testdata/scheduler/"

func TestWasmPluginsOfAConfiguration(t *testing.T) {
	const folder = "file://../testdata/guests/"
	tests := []struct {
		name, file string
		want       []WasmPlugin
	}{
		{name: "none", file: "good/no_plugins.json"},
		{name: "the native plugin is none", file: "good/native.yaml"},
		{
			name: "one, in the profile without a name", file: "good/one_guest.yaml",
			want: []WasmPlugin{{"default-scheduler", "WasmRegexScheduling", wasmhost.Args{GuestURL: folder + "empty_filter.wasm"}, "profiles[0].pluginConfig[0].args"}},
		},
		{
			name: "those of each profile, but not those that are not enabled", file: "good/many_guests.yaml",
			want: []WasmPlugin{
				{"default-scheduler", "First", wasmhost.Args{GuestURL: folder + "empty_filter.wasm"}, "profiles[0].pluginConfig[0].args"},
				{"default-scheduler", "Second", wasmhost.Args{GuestURL: folder + "error_filter.wasm", GuestConfig: `{"colour": "red"}`, LogSeverity: 2}, "profiles[0].pluginConfig[1].args"},
				{"other", "First", wasmhost.Args{GuestURL: folder + "permit.wasm"}, "profiles[1].pluginConfig[0].args"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			config, err := os.ReadFile(configs + tt.file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := WasmPlugins(config)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// Two profiles call different guests First, and each gets its own.
func TestEachProfileGetsTheGuestThatWasStartedForIt(t *testing.T) {
	config, err := os.ReadFile(configs + "good/many_guests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := &setup{host: &wasmhost.Host{}}
	defer s.host.Close()
	if err := s.read(t.Context(), config); err != nil {
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
	config, err := os.ReadFile(configs + "good/one_guest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := WasmPlugins(config, "WasmRegexScheduling"); err == nil {
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
		err := Run(t.Context(), Options{Config: profileWith("Wasm", "{"+args+"}"), Transport: inProcess{}})
		found := FieldErrors(err)
		if len(found) != 1 || found[0].Field != "profiles[0].pluginConfig[0].args."+field {
			t.Errorf("%s: %v points at %+v", field, err, found)
		}
	}
}
