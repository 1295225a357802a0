package algorithm

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	kjson "sigs.k8s.io/json"
)

// A Config is the configuration of one kind of algorithm: a pointer that JSON
// decodes into.
type Config interface {
	// Validate returns an error that begins with the field at fault.
	Validate() error
	// New makes the algorithm. The logger is named algorithm.<name>.
	New(logger logr.Logger) (Algorithm, error)
}

// kinds has the defaults of each registered kind.
var kinds = map[string]func() Config{}

// Register makes an algorithm known under a name, from an init function. A user's
// config is decoded over defaults. It panics if the name is taken or unusable.
func Register(name string, defaults func() Config) {
	if name == "" || strings.ContainsAny(name, " ,:") {
		panic(fmt.Sprintf("algorithm: %q is no name for an algorithm", name))
	}
	if _, taken := kinds[name]; taken {
		panic(fmt.Sprintf("algorithm: %q is registered twice", name))
	}
	kinds[name] = defaults
}

// ConfigType is the type of the config of a kind, or nil if there is no such kind.
func ConfigType(kind string) reflect.Type {
	if defaults, ok := kinds[kind]; ok {
		return reflect.TypeOf(defaults())
	}
	return nil
}

// Kinds are the registered names, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Resolve returns the config that an algorithm of a kind gets from a user's
// JSON, which may be empty: defaults filled in, unknown fields refused, valid.
func Resolve(kind string, raw []byte) (Config, error) {
	defaults, ok := kinds[kind]
	if !ok {
		return nil, fmt.Errorf("no algorithm is called %q: there are %s", kind, strings.Join(Kinds(), ", "))
	}
	config := defaults()
	var err error
	if len(bytes.TrimSpace(raw)) > 0 {
		var strict []error
		strict, err = kjson.UnmarshalStrict(raw, config)
		err = errors.Join(append(strict, err)...)
	}
	if err == nil {
		err = config.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return config, nil
}

// New makes an algorithm of a kind from a user's JSON.
func New(kind string, raw []byte, logger logr.Logger) (Algorithm, error) {
	config, err := Resolve(kind, raw)
	if err != nil {
		return nil, err
	}
	return config.New(logger)
}
