package wasmhost

import (
	"io"
	"runtime"
	"strings"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestPluginHasTheInterfacesOfItsGuest(t *testing.T) {
	for guest, want := range map[string]string{
		"trap_prefilter":      "",
		"empty_filter":        "filter",
		"trap_normalizescore": "score",
		"filter_score":        "filter score",
		"permit":              "binding",
		"filter_permit":       "filter binding",
		"score_permit":        "score binding",
		"every_hook":          "filter score binding",
	} {
		pl := open(t, guest)
		has := func(group string, all ...bool) {
			t.Helper()
			for i, is := range all {
				testkit.Equal(t, is, group == "" || strings.Contains(want, group), "%s: interface %d of %q", guest, i, group)
			}
		}
		has("", is[fwk.EnqueueExtensions](pl), is[fwk.PreFilterPlugin](pl), is[fwk.SignPlugin](pl), is[io.Closer](pl),
			!is[fwk.PreEnqueuePlugin](pl), !is[fwk.QueueSortPlugin](pl))
		has("filter", is[fwk.FilterPlugin](pl), is[fwk.PostFilterPlugin](pl))
		has("score", is[fwk.PreScorePlugin](pl), is[fwk.ScorePlugin](pl))
		has("binding", is[fwk.ReservePlugin](pl), is[fwk.PermitPlugin](pl), is[fwk.PreBindPlugin](pl), is[fwk.BindPlugin](pl), is[fwk.PostBindPlugin](pl))
	}
}

func is[Interface any](pl fwk.Plugin) bool {
	_, ok := pl.(Interface)
	return ok
}

// inside finds the guest behind the plugin's mask.
func inside(pl fwk.Plugin) *guest { return unmask(pl).lease.Load().guest }

func unmask(pl fwk.Plugin) *plugin { return pl.(interface{ unmask() *plugin }).unmask() }

func (p *plugin) unmask() *plugin { return p }

func TestHowManyInstancesAGuestMayHave(t *testing.T) {
	many := runtime.GOMAXPROCS(0)
	for _, tt := range []struct {
		name, guest string
		args        Args
		want        int
	}{
		{name: "prefilter and filter", guest: "remember", want: many},
		{name: "filter and postfilter", guest: "postfilter", want: many},
		{name: "prescore and score", guest: "remember_score", want: many},
		{name: "filter and score that are constants", guest: "filter_score", want: many},
		{name: "every hook, but all are constants", guest: "every_hook", want: many},
		{name: "filter and score", guest: "filter_and_score", want: 1},
		{name: "reserve and unreserve", guest: "reserve_count", want: 1},
		{name: "filter, and the scheduler's handle", guest: "filter_handle", want: 1},
		{name: "filter, and its args ask for one", guest: "remember", args: Args{Instances: 1}, want: 1},
		{name: "permit and binding", guest: "remember_permit", want: 1},
	} {
		testkit.Equal(t, len(inside(openWith(t, tt.guest, tt.args, nil)).pool.free), tt.want, "%s: slots", tt.name)
	}
}
