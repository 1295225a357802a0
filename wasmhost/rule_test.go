package wasmhost

import (
	"runtime"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
)

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
		{name: "permit and binding", guest: "remember_permit", want: perPod},
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
