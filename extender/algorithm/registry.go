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

// Env is what the server gives an algorithm besides its config.
type Env struct {
	// Logger is named algorithm.<name>.
	Logger logr.Logger
}

// A Config is the config of one kind of algorithm. It decodes from JSON.
type Config interface {
	// Validate returns an error that begins with the field at fault.
	Validate() error
}

// kind is a registered kind of algorithm.
type kind struct {
	config  reflect.Type
	resolve func(config []byte) (Config, error)
	build   func(config Config, env Env) (Algorithm, error)
}

var kinds = map[string]kind{}

// Register makes an algorithm known under name, from an init function.
// defaults returns the config that a user's config is decoded over; build is
// called with a valid one. It panics if the name is taken or unusable.
func Register[C Config](name string, defaults func() C, build func(config C, env Env) (Algorithm, error)) {
	if name == "" || strings.ContainsAny(name, " ,:") {
		panic(fmt.Sprintf("algorithm: %q is no name for an algorithm", name))
	}
	if _, taken := kinds[name]; taken {
		panic(fmt.Sprintf("algorithm: %q is registered twice", name))
	}
	kinds[name] = kind{
		config: reflect.TypeFor[C](),
		resolve: func(raw []byte) (Config, error) {
			config := defaults()
			err := decodeStrict(raw, &config)
			if err == nil {
				err = config.Validate()
			}
			if err != nil {
				return nil, fmt.Errorf("config: %w", err)
			}
			return config, nil
		},
		build: func(config Config, env Env) (Algorithm, error) { return build(config.(C), env) },
	}
}

// ConfigType is the type of the config of a kind, or nil if there is no such kind.
func ConfigType(kindName string) reflect.Type { return kinds[kindName].config }

// Kinds are the registered names, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Resolve returns the config that an algorithm of a kind gets from a user's
// JSON, which may be empty: defaults filled in, unknown fields refused, valid.
func Resolve(kindName string, raw []byte) (Config, error) {
	k, ok := kinds[kindName]
	if !ok {
		return nil, fmt.Errorf("no algorithm is called %q: there are %s", kindName, strings.Join(Kinds(), ", "))
	}
	return k.resolve(raw)
}

// New makes an algorithm of a kind from a user's JSON.
func New(kindName string, raw []byte, env Env) (Algorithm, error) {
	config, err := Resolve(kindName, raw)
	if err != nil {
		return nil, err
	}
	return kinds[kindName].build(config, env)
}

func decodeStrict(raw []byte, into any) error {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return nil
	}
	strict, err := kjson.UnmarshalStrict(raw, into)
	if err != nil {
		return err
	}
	return errors.Join(strict...)
}
