package wasmhost

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
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
	// Verify says who must have signed the guest. Nil asks for no signature.
	Verify *Verify `json:"verify,omitempty"`
	// GuestSizeLimit bounds the size of the guest, in bytes, up to MaxGuestSize.
	// Zero is DefaultGuestSize.
	GuestSizeLimit resource.Quantity `json:"guestSizeLimit,omitzero"`
	// MemoryLimit bounds the memory of each instance of the guest, in bytes: from
	// MinMemory to MaxMemory, in whole pages of 64 KiB, of which there are at most 65,535. Zero is DefaultMemory.
	MemoryLimit resource.Quantity `json:"memoryLimit,omitzero"`
	// CallTimeout bounds each call of the guest. Zero is DefaultCallTimeout. Below
	// zero, in JSON "none", there is no bound: then the first garbage collection
	// during a call that does not end stops the process for good.
	CallTimeout Timeout `json:"callTimeout,omitzero"`
	// AnswersLimit bounds what the host remembers of the answers of a guest that
	// declares what it decides by, in bytes. Zero is DefaultAnswers.
	AnswersLimit resource.Quantity `json:"answersLimit,omitzero"`
	// Instances is 1 where the guest must never run twice at the same time. Zero
	// leaves it to the host to find out.
	Instances int `json:"instances,omitempty"`
	// FailurePolicy is what a call means that fails: one that traps or lasts too long, or
	// for which no instance starts. Empty is FailurePolicyFail.
	FailurePolicy FailurePolicy `json:"failurePolicy,omitempty"`
	// Reload is how often the source is asked for a new guest while the scheduler runs: the attempts that follow begin with it, and an attempt that has
	// begun ends with the guest before. Zero is never. It needs FetchNew of [Options], and a guest that no digest pins.
	Reload Period `json:"reload,omitzero"`
}

// Verify refuses a guest that has no signature by cosign (version 3, or its bundle of before) with one
// of some keys: in the registry for oci://, else beside the guest, in a file with its name and
// .sigstore.json.
type Verify struct {
	// Keys are public keys in PEM, ECDSA of the curve P-256: files, or their text. One of
	// them must have signed.
	Keys []string `json:"keys"`
}

// FailurePolicy is a policy of [Args], with the words that webhooks have for it.
type FailurePolicy string

const (
	// FailurePolicyFail has the pod of the call get an Error: it is tried again.
	FailurePolicyFail FailurePolicy = "Fail"
	// FailurePolicyIgnore does not call the guest any more in the pod's attempt, as if
	// it let the pod run on every node of which no answer is remembered.
	FailurePolicyIgnore FailurePolicy = "Ignore"
)

// What [Args.GuestSizeLimit] may be, in bytes.
const (
	DefaultGuestSize = 64 << 20
	MaxGuestSize     = 1 << 30
)

// What [Args.MemoryLimit] may be, in bytes.
const (
	MinMemory     = 64 << 10 // a page
	DefaultMemory = 256 << 20
	MaxMemory     = 4 << 30
)

// Defaults of fields.
const (
	DefaultAnswers     = 64 << 20 // bytes
	DefaultCallTimeout = time.Second
)

// Timeout is the time that a call may take.
type Timeout struct{ time.Duration }

// NoCallTimeout is a Timeout that bounds nothing.
var NoCallTimeout = Timeout{-1}

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Timeout) UnmarshalText(text []byte) (err error) {
	if string(text) == "none" {
		*t = NoCallTimeout
		return nil
	}
	t.Duration, err = time.ParseDuration(string(text))
	if err != nil || t.Duration <= 0 {
		return errors.New("must be a duration above 0s such as 500ms, or none")
	}
	return nil
}

// Period is a time from one try to the next one.
type Period struct{ time.Duration }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Period) UnmarshalText(text []byte) (err error) {
	p.Duration, err = time.ParseDuration(string(text))
	if err != nil {
		return errors.New("must be a duration such as 30s")
	}
	return nil
}

// callTimeout is zero where calls are not bounded. Ten of them are a time.Duration.
func (a Args) callTimeout() time.Duration {
	return min(max(0, cmp.Or(a.CallTimeout.Duration, DefaultCallTimeout)), math.MaxInt64/10)
}

// ArgsError is an error about the field of [Args] with that name in JSON: of
// [ParseArgs], or of [Host.Start] where the guest does not go with the field. Err says what is wrong; nil says that the field is.
type ArgsError struct {
	Field string
	Err   error
}

func (e *ArgsError) Error() string {
	if e.Err == nil {
		return "args: " + e.Field + " is not valid"
	}
	return e.Err.Error()
}
func (e *ArgsError) Unwrap() error { return e.Err }

func argsErrorf(field, format string, args ...any) error {
	return &ArgsError{field, fmt.Errorf("args: "+format, args...)}
}

// DecodeArgs reads args as the scheduler hands them to a plugin factory. Unlike
// the decoder of the framework it is strict: an unknown or wrongly capitalised
// field is an error that names it.
func DecodeArgs(obj runtime.Object) (Args, error) {
	raw, err := yamlcheck.Args(obj)
	if err != nil {
		return Args{}, fmt.Errorf("args: %w", err)
	}
	return ParseArgs(raw)
}

// ParseArgs reads args from JSON, as strictly as [DecodeArgs]. An error joins those
// of all fields, each an [ArgsError].
func ParseArgs(raw []byte) (args Args, err error) {
	var errs []error
	for _, p := range yamlcheck.Decode(raw, &args) {
		if p.Field == "compilationCache" {
			p.Message = "was removed and has no replacement: delete it; each start compiles the guest"
		}
		errs = append(errs, argsErrorf(p.Field, "%w", yamlcheck.Problems{p}))
	}
	if errs != nil {
		return Args{}, errors.Join(errs...)
	}
	return args, args.validate()
}

func (a Args) validate() error {
	var errs []error
	refuse := func(wrong bool, field, format string, args ...any) {
		if wrong {
			errs = append(errs, argsErrorf(field, field+" is "+format, args...))
		}
	}
	_, notHex := hex.DecodeString(a.GuestSHA256)
	refuse(a.GuestURL == "", "guestURL", "required")
	refuse(a.LogSeverity < 0 || a.LogSeverity > 3, "logSeverity", "%d, but goes from 0 (info) to 3 (fatal)", a.LogSeverity)
	refuse(a.GuestSHA256 != "" && (notHex != nil || len(a.GuestSHA256) != 64), "guestSHA256", "%q, but must be 64 hexadecimal digits, as sha256sum prints them", a.GuestSHA256)
	refuse(a.Verify != nil && len(a.Verify.Keys) == 0, "verify", "without keys, but must have at least one, or be omitted")
	refuse(!within(a.GuestSizeLimit, 0, MaxGuestSize), "guestSizeLimit", "%s, but goes up to 1Gi", &a.GuestSizeLimit)
	refuse(!a.MemoryLimit.IsZero() && !within(a.MemoryLimit, MinMemory, MaxMemory), "memoryLimit", "%s, but goes from 64Ki to 4Gi", &a.MemoryLimit)
	refuse(!within(a.AnswersLimit, 0, math.MaxInt64), "answersLimit", "%s, but must be above 0, or omitted for 64Mi", &a.AnswersLimit)
	refuse(a.FailurePolicy != "" && a.FailurePolicy != FailurePolicyFail && a.FailurePolicy != FailurePolicyIgnore,
		"failurePolicy", "%q, but must be Fail or Ignore", a.FailurePolicy)
	refuse(a.Reload.Duration != 0 && a.Reload.Duration < time.Second, "reload", "%s, but must be at least 1s, or omitted", a.Reload.Duration)
	pinned := a.GuestSHA256 != "" || a.imageIsPinned()
	refuse(a.Reload.Duration != 0 && pinned, "reload", "given, but the guest is pinned by its digest, and there never is another: omit reload, or the digest")
	refuse(a.Instances < 0 || a.Instances > 1, "instances", "%d, but must be 1, or 0 for as many as the guest allows", a.Instances)
	return errors.Join(errs...)
}

// imageIsPinned reports whether GuestURL has the digest of an image.
func (a Args) imageIsPinned() bool {
	return strings.HasPrefix(a.GuestURL, "oci://") && strings.Contains(a.GuestURL, "@sha256:")
}

func within(q resource.Quantity, least, most int64) bool {
	return q.CmpInt64(least) >= 0 && q.CmpInt64(most) <= 0
}
