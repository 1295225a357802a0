package builtin_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm/builtin"
)

type config struct {
	Size int `json:"size"`
}

func (config) New(logr.Logger) (algorithm.Algorithm, error) { panic("nobody asks") }

func (c config) Validate() error {
	if c.Size < 0 {
		return errors.New("size: must not be negative")
	}
	return nil
}

func init() { builtin.Kinds["test"] = func() algorithm.Config { return &config{Size: 3} } }

func TestAnAlgorithmGetsItsConfig(t *testing.T) {
	for raw, want := range map[string]int{"": 3, "null": 3, "{}": 3, `{"size":5}`: 5} {
		c, err := builtin.Resolve("test", []byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.(*config).Size; got != want {
			t.Errorf("%q: size %d, want %d", raw, got, want)
		}
	}
	for raw, want := range map[string]string{
		`{"sise":5}`: `unknown field "sise"`, `{"Size":5}`: `unknown field "Size"`, `{"size":1,"size":2}`: `duplicate field "size"`,
		`{"size":-1}`: "size: must not be negative", `{"size":"big"}`: "size", `{`: "unexpected end",
	} {
		if _, err := builtin.Resolve("test", []byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", raw, err, want)
		}
	}
	_, err := builtin.Resolve("missing", nil)
	kinds := strings.Join(slices.Sorted(maps.Keys(builtin.Kinds)), ", ")
	if want := `no algorithm is called "missing": there are ` + kinds; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
