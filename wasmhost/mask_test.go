package wasmhost

import (
	"io"
	"runtime"
	"strings"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
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
				if is != (group == "" || strings.Contains(want, group)) {
					t.Errorf("%s: interface %d of %q: %v", guest, i, group, is)
				}
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

// inside finds the plugin behind its mask.
func inside(pl fwk.Plugin) *plugin { return pl.(interface{ unmask() *plugin }).unmask() }

func (p *plugin) unmask() *plugin { return p }

func TestHowManyInstancesAGuestMayHave(t *testing.T) {
	for _, tt := range []struct {
		name, guest string
		args        Args
		want        sharing
	}{
		{name: "prefilter and filter", guest: "remember", want: parallel},
		{name: "filter and postfilter", guest: "postfilter", want: parallel},
		{name: "prescore and score", guest: "remember_score", want: parallel},
		{name: "filter and score that are constants", guest: "filter_score", want: parallel},
		{name: "every hook, but all are constants", guest: "every_hook", want: parallel},
		{name: "filter and score", guest: "filter_and_score", want: single},
		{name: "reserve and unreserve", guest: "reserve_count", want: single},
		{name: "filter, and the scheduler's handle", guest: "filter_handle", want: single},
		{name: "filter, and its args ask for one", guest: "remember", args: Args{Instances: 1}, want: single},
		{name: "permit and binding", guest: "remember_permit", want: single},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := inside(openWith(t, tt.guest, tt.args, nil))
			want := 1
			if tt.want == parallel {
				want = runtime.GOMAXPROCS(0)
			}
			if p.sharing != tt.want || len(p.pool.free) != want {
				t.Errorf("got %v and %d slots, want %v and %d", p.sharing, len(p.pool.free), tt.want, want)
			}
		})
	}
}
