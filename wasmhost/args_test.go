package wasmhost

import (
	"encoding/json"
	"testing"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
)

func TestDecodeArgs(t *testing.T) {
	const good = "https://example.com/guest.wasm"
	raw := func(fields string) runtime.Object {
		return &runtime.Unknown{Raw: []byte(`{"guestURL":"` + good + `",` + fields + `}`)}
	}
	tests := []struct {
		name string
		args runtime.Object
		want Args
		err  string
	}{
		{
			name: "all fields in JSON",
			args: &runtime.Unknown{Raw: []byte(`{"guestURL":"` + good + `","guestConfig":"{}","logSeverity":3}`)},
			want: Args{GuestURL: good, GuestConfig: "{}", LogSeverity: 3},
		},
		{
			name: "YAML, when the scheduler says it is",
			args: &runtime.Unknown{Raw: []byte("guestURL: " + good), ContentType: runtime.ContentTypeYAML},
			want: Args{GuestURL: good},
		},
		{name: "no args at all", err: "args: guestURL is required"},
		{name: "no URL", args: &runtime.Unknown{Raw: []byte(`{"guestConfig":"{}"}`)}, err: "args: guestURL is required"},
		{
			name: "an unknown field is named",
			args: &runtime.Unknown{Raw: []byte(`{"guestURL":"` + good + `","args":[]}`)},
			err:  `args: unknown field "args"`,
		},
		{
			name: "a field given twice is named",
			args: &runtime.Unknown{Raw: []byte(`{"guestURL":"` + good + `","guestURL":"http://example.com"}`)},
			err:  `args: duplicate field "guestURL"`,
		},
		{
			name: "a value of another type is named",
			args: &runtime.Unknown{Raw: []byte(`{"guestURL":7}`)},
			err:  `args: guestURL is a JSON number, but must be a string`,
		},
		{
			name: "a log severity that doesn't exist",
			args: &runtime.Unknown{Raw: []byte(`{"guestURL":"` + good + `","logSeverity":-1}`)},
			err:  `args: logSeverity is -1, but goes from 0 (info) to 3 (fatal)`,
		},
		{
			name: "limits and trust",
			args: raw(`"guestSHA256":"` + digest + `","guestSizeLimit":"2Mi","memoryLimit":"64Mi","callTimeout":"1m30s","instances":1,"compilationCache":"/var/cache"`),
			want: Args{
				GuestURL: good, GuestSHA256: digest, GuestSizeLimit: resource.MustParse("2Mi"), MemoryLimit: resource.MustParse("64Mi"),
				CallTimeout: metav1.Duration{Duration: 90 * time.Second}, Instances: 1, CompilationCache: "/var/cache",
			},
		},
		{
			name: "limits that are left empty are the default",
			args: raw(`"guestSHA256":"","memoryLimit":null,"callTimeout":"","instances":0,"compilationCache":""`),
			want: Args{GuestURL: good},
		},
		{
			name: "bytes without a unit",
			args: raw(`"memoryLimit":65536`),
			want: Args{GuestURL: good, MemoryLimit: quantity(MinMemory)},
		},
		{
			name: "a digest that is too short",
			args: raw(`"guestSHA256":"0123"`),
			err:  `args: guestSHA256 is "0123", but must be 64 hexadecimal digits, as sha256sum prints them`,
		},
		{
			name: "a digest with another algorithm's name before it",
			args: raw(`"guestSHA256":"sha256:` + digest[7:] + `"`),
			err:  `args: guestSHA256 is "sha256:` + digest[7:] + `", but must be 64 hexadecimal digits, as sha256sum prints them`,
		},
		{
			name: "a guest of any size",
			args: raw(`"guestSizeLimit":"2Gi"`),
			err:  `args: guestSizeLimit is 2Gi, but goes up to 1Gi`,
		},
		{
			name: "memory that is not a quantity",
			args: raw(`"memoryLimit":"much"`),
			err:  `args: memoryLimit is "much", but must be a number of bytes such as 256Mi`,
		},
		{
			name: "less memory than a page",
			args: raw(`"memoryLimit":"65535"`),
			err:  `args: memoryLimit is 65535, but goes from 64Ki to 4Gi`,
		},
		{
			name: "more memory than Wasm can address",
			args: raw(`"memoryLimit":"5Gi"`),
			err:  `args: memoryLimit is 5Gi, but goes from 64Ki to 4Gi`,
		},
		{
			name: "more memory than can be counted",
			args: raw(`"memoryLimit":"1e30"`),
			err:  `args: memoryLimit is 1e30, but goes from 64Ki to 4Gi`,
		},
		{
			name: "a time without a unit",
			args: raw(`"callTimeout":"2"`),
			err:  `args: callTimeout is "2", but must be a duration above 0s such as 500ms, or none`,
		},
		{
			name: "a time that is a number",
			args: raw(`"callTimeout":2`),
			err:  `args: callTimeout is 2, but must be a duration above 0s such as 500ms, or none`,
		},
		{
			name: "no bound on time",
			args: raw(`"callTimeout":"none"`),
			want: Args{GuestURL: "https://example.com/guest.wasm", CallTimeout: NoCallTimeout},
		},
		{
			name: "no time at all",
			args: raw(`"callTimeout":"0s"`),
			err:  `args: callTimeout is "0s", but must be a duration above 0s such as 500ms, or none`,
		},
		{
			name: "a time before now",
			args: raw(`"callTimeout":"-2s"`),
			err:  `args: callTimeout is "-2s", but must be a duration above 0s such as 500ms, or none`,
		},
		{
			name: "more instances than can be asked for",
			args: raw(`"instances":2`),
			err:  `args: instances is 2, but must be 1, or 0 for as many as the guest allows`,
		},
		{
			name: "a cache that is no directory's name",
			args: raw(`"compilationCache":true`),
			err:  `args: compilationCache is a JSON bool, but must be a string`,
		},
		{
			name: "two mistakes",
			args: raw(`"memoryLimit":"much","guestConfg":""`),
			err:  `args: unknown field "guestConfg"` + "\n" + `args: memoryLimit is "much", but must be a number of bytes such as 256Mi`,
		},
		{
			name: "the args of a plugin that is compiled in",
			args: &config.NodeAffinityArgs{},
			err:  `args are a *config.NodeAffinityArgs, not the args of a Wasm plugin`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DecodeArgs(tt.args)
			if message(err) != tt.err {
				t.Errorf("error %q, want %q", message(err), tt.err)
			}
			if tt.err == "" && !apiequality.Semantic.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// digest is one that has the right form.
const digest = "9F86D081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func TestArgsAreReadAsTheyWereWritten(t *testing.T) {
	for _, want := range []Args{
		{GuestURL: "file://guest.wasm"},
		{GuestURL: "file://guest.wasm", GuestSHA256: digest, MemoryLimit: quantity(MaxMemory), CallTimeout: metav1.Duration{Duration: time.Second}, Instances: 1},
	} {
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseArgs(raw); err != nil || !apiequality.Semantic.DeepEqual(got, want) {
			t.Errorf("%s: got %+v (%v), want %+v", raw, got, err, want)
		}
	}
}

func quantity(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.BinarySI) }

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
