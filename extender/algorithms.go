package extender

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm/load"
	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm/lucky"
	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm/nop"
	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm/regex"
)

// Algorithms are the configs of the algorithms that have one.
type Algorithms struct {
	Load  Algorithm[load.Config]  `json:"load"`
	Lucky Algorithm[lucky.Config] `json:"lucky"`
	Regex Algorithm[regex.Config] `json:"regex"`
}

// Algorithm has the config of an algorithm.
type Algorithm[T any] struct {
	Config T `json:"config"`
}

func defaultAlgorithms() (a Algorithms) {
	a.Load.Config = load.Default()
	a.Lucky.Config = lucky.Default()
	a.Regex.Config = regex.Default()
	return a
}

// registered makes the algorithms, by name.
var registered = map[string]func(a *Algorithms, logger logr.Logger) (algorithm.Algorithm, error){
	"load": func(a *Algorithms, logger logr.Logger) (algorithm.Algorithm, error) {
		return load.New(a.Load.Config, logger)
	},
	"lucky": func(a *Algorithms, _ logr.Logger) (algorithm.Algorithm, error) { return lucky.New(a.Lucky.Config), nil },
	"nop":   func(*Algorithms, logr.Logger) (algorithm.Algorithm, error) { return nop.New(), nil },
	"regex": func(a *Algorithms, _ logr.Logger) (algorithm.Algorithm, error) { return regex.New(a.Regex.Config), nil },
}

// Register adds an algorithm of your own, in init: before a configuration is read. It panics if
// there is one with that name.
func Register(name string, make func(a *Algorithms, logger logr.Logger) (algorithm.Algorithm, error)) {
	if registered[name] != nil {
		panic(fmt.Sprintf("extender: algorithm %q is registered already", name))
	}
	registered[name] = make
}

// algorithmNames returns the names of the algorithms, sorted.
func algorithmNames() []string { return slices.Sorted(maps.Keys(registered)) }
