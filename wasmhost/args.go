package wasmhost

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Args is what the pluginConfig of a Wasm plugin may say.
type Args struct {
	// GuestURL is where the guest is: https:// or http://; oci:// and an image in
	// a registry, with tag or digest; or file:// and a path, relative to the
	// working directory or absolute.
	GuestURL string `json:"guestURL"`
	// GuestConfig is handed to the guest as it stands.
	GuestConfig string `json:"guestConfig,omitempty"`
	// LogSeverity is the least severity that the guest logs: 0 info, 1 warning,
	// 2 error, 3 fatal.
	LogSeverity int32 `json:"logSeverity,omitempty"`
	// GuestSHA256 is the digest that the guest must have, in 64 hexadecimal
	// digits. Empty is any.
	GuestSHA256 string `json:"guestSHA256,omitempty"`
	// GuestSizeLimit bounds the size of the guest, in bytes, up to MaxGuestSize.
	// Zero is the limit of the Host.
	GuestSizeLimit Quantity `json:"guestSizeLimit,omitempty"`
	// MemoryLimit bounds the memory of each instance of the guest, in bytes: from
	// MinMemory to MaxMemory, in whole pages of 64 KiB. Zero is DefaultMemory.
	MemoryLimit Quantity `json:"memoryLimit,omitempty"`
	// CallTimeout bounds each call of the guest. Zero is DefaultCallTimeout. Below
	// zero there is no bound: then the first garbage collection during a call that
	// does not end stops the process for good.
	CallTimeout Duration `json:"callTimeout,omitempty"`
	// AnswersLimit bounds what the host remembers of the answers of a guest that
	// declares what it decides by, in bytes. Zero is DefaultAnswers.
	AnswersLimit Quantity `json:"answersLimit,omitempty"`
	// RecheckEvery is of how many remembered answers one is asked again, to find a
	// guest that decides by more than it declares. Zero is DefaultRecheck.
	RecheckEvery int `json:"recheckEvery,omitempty"`
	// Instances is 1 where the guest must never run twice at the same time. Zero
	// leaves it to the host to find out.
	Instances int `json:"instances,omitempty"`
	// CompilationCache is the directory that keeps compiled guests for the next
	// start. It is made where it is missing. Empty keeps nothing.
	CompilationCache string `json:"compilationCache,omitempty"`
}

// MaxGuestSize is the most that [Args.GuestSizeLimit] may be, in bytes.
const MaxGuestSize = 1 << 30

// What [Args.MemoryLimit] may be, in bytes.
const (
	MinMemory     = 64 << 10 // a page
	DefaultMemory = 256 << 20
	MaxMemory     = 4 << 30
)

// What the host remembers unless told otherwise: how many bytes of answers, and of
// how many of them one is asked again.
const (
	DefaultAnswers = 64 << 20
	DefaultRecheck = 1000
)

func (a Args) answersLimit() int64 { return cmp.Or(int64(a.AnswersLimit), DefaultAnswers) }

func (a Args) recheckEvery() uint32 { return uint32(cmp.Or(a.RecheckEvery, DefaultRecheck)) }

// DefaultCallTimeout is how long a call of a guest may last, unless told otherwise.
const DefaultCallTimeout = time.Second

// NoCallTimeout is what [Args.CallTimeout] is where a configuration says none.
const NoCallTimeout Duration = -1

// callTimeout is zero where calls are not bounded.
func (a Args) callTimeout() time.Duration {
	if a.CallTimeout < 0 {
		return 0
	}
	return cmp.Or(time.Duration(a.CallTimeout), DefaultCallTimeout)
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
		if form, ok := forms[wrong.Type]; ok {
			return Args{}, fmt.Errorf("args: %s is %s, but must be %s", wrong.Field, wrong.Value, form)
		}
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
	_, notHex := hex.DecodeString(a.GuestSHA256)
	switch {
	case a.GuestURL == "":
		return errNoURL
	case a.LogSeverity < 0 || a.LogSeverity > 3:
		return fmt.Errorf("args: logSeverity is %d, but goes from 0 (info) to 3 (fatal)", a.LogSeverity)
	case a.GuestSHA256 != "" && (notHex != nil || len(a.GuestSHA256) != 64):
		return fmt.Errorf("args: guestSHA256 is %q, but must be 64 hexadecimal digits, as sha256sum prints them", a.GuestSHA256)
	case a.GuestSizeLimit < 0 || a.GuestSizeLimit > MaxGuestSize:
		return fmt.Errorf("args: guestSizeLimit is %s, but goes up to 1Gi", a.GuestSizeLimit)
	case a.MemoryLimit != 0 && (a.MemoryLimit < MinMemory || a.MemoryLimit > MaxMemory):
		return fmt.Errorf("args: memoryLimit is %s, but goes from 64Ki to 4Gi", a.MemoryLimit)
	case a.AnswersLimit < 0:
		return fmt.Errorf("args: answersLimit is %s, but must be above 0, or left out for 64Mi", a.AnswersLimit)
	case a.RecheckEvery < 0 || a.RecheckEvery > math.MaxInt32:
		return fmt.Errorf("args: recheckEvery is %d, but must be above 0, or left out for %d", a.RecheckEvery, DefaultRecheck)
	case a.Instances < 0 || a.Instances > 1:
		return fmt.Errorf("args: instances is %d, but must be 1, or 0 for as many as the guest allows", a.Instances)
	}
	return nil
}
