package wasmhost

import (
	"testing"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

const good = "https://example.com/guest.wasm"

// withFields are args with a URL and further fields.
func withFields(fields string) runtime.Object {
	return &runtime.Unknown{Raw: []byte(`{"guestURL":"` + good + `",` + fields + `}`)}
}

func TestDecodeArgs(t *testing.T) {
	for name, tt := range map[string]struct {
		args runtime.Object
		want Args
	}{
		"all fields in JSON": {withFields(`"guestConfig":"{}","logSeverity":3`), Args{GuestURL: good, GuestConfig: "{}", LogSeverity: 3}},
		"YAML, when the scheduler says it is": {
			&runtime.Unknown{Raw: []byte("guestURL: " + good), ContentType: runtime.ContentTypeYAML}, Args{GuestURL: good},
		},
		"limits and trust": {
			withFields(`"guestSHA256":"` + digest + `","guestSizeLimit":"2Mi","memoryLimit":"64Mi","callTimeout":"1m30s","instances":1`),
			Args{
				GuestURL: good, GuestSHA256: digest, GuestSizeLimit: resource.MustParse("2Mi"), MemoryLimit: resource.MustParse("64Mi"),
				CallTimeout: Timeout{90 * time.Second}, Instances: 1,
			},
		},
		"limits that are left empty are the default": {
			withFields(`"guestSHA256":"","memoryLimit":null,"callTimeout":null,"instances":0`), Args{GuestURL: good},
		},
		"bytes without a unit": {withFields(`"memoryLimit":65536`), Args{GuestURL: good, MemoryLimit: quantity(MinMemory)}},
		"no bound on time":     {withFields(`"callTimeout":"none"`), Args{GuestURL: good, CallTimeout: NoCallTimeout}},
	} {
		got, err := DecodeArgs(tt.args)
		if err != nil || !apiequality.Semantic.DeepEqual(got, tt.want) { // quantities may be written in several ways
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, tt.want)
		}
	}
}

func TestDecodeArgsNamesTheFieldThatIsWrong(t *testing.T) {
	const (
		digits   = ", but must be 64 hexadecimal digits, as sha256sum prints them"
		quantity = `args: memoryLimit: expected a quantity such as 500m or 1Gi, found a string`
		seconds  = `args: callTimeout: invalid value: must be a duration above 0s such as 500ms, or none`
	)
	for args, want := range map[runtime.Object]string{
		nil:                        `args: guestURL is required`,
		&config.NodeAffinityArgs{}: `args: they are a *config.NodeAffinityArgs`,
		&runtime.Unknown{Raw: []byte(`{"guestConfig":"{}"}`)}:       `args: guestURL is required`,
		withFields(`"memoryLimit":"1e99999999"`):                    `args: memoryLimit: the exponent of quantity 1e99999999 is out of range`,
		withFields(`"answersLimit":1e-99999999`):                    `args: answersLimit: the exponent of quantity 1e-99999999 is out of range`,
		&runtime.Unknown{Raw: []byte(`{"guestURL":7}`)}:             `args: guestURL: expected a string, found a number: put it in quotes`,
		withFields(`"logSeverity":-1`):                              `args: logSeverity is -1, but goes from 0 (info) to 3 (fatal)`,
		withFields(`"guestSHA256":"0123"`):                          `args: guestSHA256 is "0123"` + digits,
		withFields(`"guestSHA256":"sha256:` + digest[7:] + `"`):     `args: guestSHA256 is "sha256:` + digest[7:] + `"` + digits,
		withFields(`"verify":{}`):                                   `args: verify is without keys, but must have at least one, or be omitted`,
		withFields(`"guestSizeLimit":"2Gi"`):                        `args: guestSizeLimit is 2Gi, but goes up to 1Gi`,
		withFields(`"memoryLimit":"65535"`):                         `args: memoryLimit is 65535, but goes from 64Ki to 4Gi`,
		withFields(`"memoryLimit":"5Gi"`):                           `args: memoryLimit is 5Gi, but goes from 64Ki to 4Gi`,
		withFields(`"memoryLimit":"1e30"`):                          `args: memoryLimit is 1e30, but goes from 64Ki to 4Gi`,
		withFields(`"callTimeout":"2"`):                             seconds,
		withFields(`"callTimeout":"0s"`):                            seconds,
		withFields(`"callTimeout":"-2s"`):                           seconds,
		withFields(`"callTimeout":2`):                               `args: callTimeout: expected a string, found a number: JSON value must be string type`,
		withFields(`"reload":"500ms"`):                              `args: reload is 500ms, but must be at least 1s, or omitted`,
		withFields(`"reload":"30s","guestSHA256":"` + digest + `"`): `args: reload is given, but the guest is pinned by its digest, and there never is another: omit reload, or the digest`,
		withFields(`"reload":"-1s"`):                                `args: reload is -1s, but must be at least 1s, or omitted`,
		withFields(`"reload":"soon"`):                               `args: reload: invalid value: must be a duration such as 30s`,
		withFields(`"instances":2`):                                 `args: instances is 2, but must be 1, or 0 for as many as the guest allows`,
		withFields(`"compilationCache":""`):                         `args: compilationCache: was removed and has no replacement: delete it; each start compiles the guest`,
		withFields(`"memoryLimit":"much","guestConfg":""`):          quantity + "\n" + `args: guestConfg: unknown field: do you mean "guestConfig"?`,
	} {
		_, err := DecodeArgs(args)
		testkit.Equal(t, testkit.Message(err), want, "the error")
	}
}

func TestArgsErrorWithoutACauseNamesItsField(t *testing.T) {
	for _, err := range []*ArgsError{{Field: "verify"}, {}} {
		testkit.Has(t, err.Error(), "args: "+err.Field)
	}
}

// digest is one that has the right form.
const digest = "9F86D081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func quantity(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.BinarySI) }
