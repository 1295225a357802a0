package wasmhost

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Args is what the pluginConfig of a Wasm plugin may say.
type Args struct {
	// GuestURL is where the guest is: http://, https:// or file://, the latter
	// followed by a path, relative to the working directory or absolute.
	GuestURL string `json:"guestURL"`
	// GuestConfig is handed to the guest as it stands.
	GuestConfig string `json:"guestConfig,omitempty"`
	// LogSeverity is the least severity that the guest logs: 0 info, 1 warning,
	// 2 error, 3 fatal.
	LogSeverity int32 `json:"logSeverity,omitempty"`
}

// DecodeArgs reads args as the scheduler hands them to a plugin factory. Unlike
// the decoder of the framework it is strict: an unknown, doubled or wrongly
// capitalised field is an error that names it.
func DecodeArgs(obj runtime.Object) (Args, error) {
	if obj == nil {
		return Args{}, errNoURL
	}
	unknown, ok := obj.(*runtime.Unknown)
	if !ok {
		return Args{}, fmt.Errorf("args are a %T, not the args of a Wasm plugin", obj)
	}
	raw := unknown.Raw
	if unknown.ContentType == runtime.ContentTypeYAML {
		var err error
		if raw, err = yaml.YAMLToJSONStrict(raw); err != nil {
			return Args{}, fmt.Errorf("args: %w", err)
		}
	}
	return ParseArgs(raw)
}

// ParseArgs reads args from JSON, as strictly as [DecodeArgs].
func ParseArgs(raw []byte) (Args, error) {
	var args Args
	strict, err := kjson.UnmarshalStrict(raw, &args)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) && wrong.Field != "" {
		return Args{}, fmt.Errorf("args: %s is a JSON %s, but must be a %s", wrong.Field, wrong.Value, wrong.Type)
	}
	if err != nil {
		return Args{}, fmt.Errorf("args: %w", err)
	}
	if len(strict) > 0 {
		return Args{}, fmt.Errorf("args: %w", errors.Join(strict...))
	}
	return args, args.validate()
}

var errNoURL = errors.New("args: guestURL is required")

func (a Args) validate() error {
	if a.GuestURL == "" {
		return errNoURL
	}
	if a.LogSeverity < 0 || a.LogSeverity > 3 {
		return fmt.Errorf("args: logSeverity is %d, but goes from 0 (info) to 3 (fatal)", a.LogSeverity)
	}
	return nil
}
