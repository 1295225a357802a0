package wasmhost

import (
	"io"
	"reflect"
	"slices"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
)

func TestPluginHasTheInterfacesOfItsGuest(t *testing.T) {
	always := []string{"EnqueueExtensions", "PreFilterPlugin", "SignPlugin", "Closer"}
	filter := []string{"FilterPlugin", "PostFilterPlugin"}
	score := []string{"PreScorePlugin", "ScorePlugin"}
	binding := []string{"ReservePlugin", "PermitPlugin", "PreBindPlugin", "BindPlugin", "PostBindPlugin"}
	for guest, want := range map[string][][]string{
		"trap_prefilter":      {},
		"empty_filter":        {filter},
		"postfilter":          {filter},
		"trap_normalizescore": {score},
		"filter_score":        {filter, score},
		"permit":              {binding},
		"filter_permit":       {filter, binding},
		"score_permit":        {score, binding},
		"every_hook":          {filter, score, binding},
	} {
		t.Run(guest, func(t *testing.T) {
			want := slices.Sorted(slices.Values(slices.Concat(append(want, always)...)))
			got := interfaces(open(t, guest))
			if !slices.Equal(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

func interfaces(pl fwk.Plugin) (names []string) {
	for _, i := range []reflect.Type{
		reflect.TypeFor[fwk.PreEnqueuePlugin](), reflect.TypeFor[fwk.QueueSortPlugin](),
		reflect.TypeFor[fwk.EnqueueExtensions](), reflect.TypeFor[fwk.PreFilterPlugin](),
		reflect.TypeFor[fwk.FilterPlugin](), reflect.TypeFor[fwk.PostFilterPlugin](),
		reflect.TypeFor[fwk.PreScorePlugin](), reflect.TypeFor[fwk.ScorePlugin](),
		reflect.TypeFor[fwk.ReservePlugin](), reflect.TypeFor[fwk.PermitPlugin](),
		reflect.TypeFor[fwk.PreBindPlugin](), reflect.TypeFor[fwk.BindPlugin](),
		reflect.TypeFor[fwk.PostBindPlugin](), reflect.TypeFor[fwk.SignPlugin](), reflect.TypeFor[io.Closer](),
	} {
		if reflect.TypeOf(pl).Implements(i) {
			names = append(names, i.Name())
		}
	}
	slices.Sort(names)
	return names
}
