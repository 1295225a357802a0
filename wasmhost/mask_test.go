package wasmhost

import (
	"io"
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
