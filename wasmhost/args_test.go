package wasmhost

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
)

func TestDecodeArgs(t *testing.T) {
	const good = "https://example.com/guest.wasm"
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
			if tt.err == "" && got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
