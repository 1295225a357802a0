package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/extender/internal/wire"
)

// TestNamesAndDepthAreBounded wherever they are, and the error stays short: it would
// have a path of names that are as long as the sender likes.
func TestNamesAndDepthAreBounded(t *testing.T) {
	long, longest := strings.Repeat("x", 1<<20), strings.Repeat("x", 4094)
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, tt := range []struct {
		body string
		want error
	}{
		{`{"Pod":{},"%s":1}`, wire.ErrLongName},
		{`{"Pod":{},"%s" !`, wire.ErrLongName},
		{`{"Pod":{"spec":{"%s":1}}}`, wire.ErrLongName},
		{`{"Pod":{"spec":[{"a":1,"%s" !`, wire.ErrLongName},
		{`{"Pod":{"metadata":{"annotations":{"%s":""}}}}`, wire.ErrLongName},
		{`{"Pod":{},"Nodes":{"items":[{"metadata":{"%s":{}}}]}}`, wire.ErrLongName},
		{`{"Pod":{},"\u0078%s":1}`, wire.ErrLongName},
		{`{"Pod":{"spec":"%s","metadata":{"annotations":{"a":"%[1]s"}}}}`, nil},
	} {
		_, err := wire.Read(fmt.Appendf(nil, tt.body, long), free)
		if !errors.Is(err, tt.want) || err != nil && len(err.Error()) > 1000 {
			t.Errorf("%s: got %.1000v, want %v", tt.body, err, tt.want)
		}
	}
	for body, want := range map[string]error{
		`{"Pod":{"` + longest + `":1,` + strings.Repeat(" ", 5000) + `"x":1}}`: nil,
		`{"Pod":{"spec":` + deep(98) + `}}`:                                    nil,
		`{"Pod":{"spec":` + deep(99) + `}}`:                                    wire.ErrTooDeep,
		`{"Pod":` + deep(9_000) + `}`:                                          wire.ErrTooDeep,
		`{"Pod":{},"NodeNames":[` + deep(9_000) + `]}`:                         wire.ErrTooDeep,
	} {
		if _, err := wire.Read([]byte(body), free); !errors.Is(err, want) {
			t.Errorf("%.60s: got %.1000v, want %v", body, err, want)
		}
	}
}
