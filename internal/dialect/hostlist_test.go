package dialect

import (
	"strings"
	"testing"
)

func TestHostlist(t *testing.T) {
	for pattern, want := range map[string]string{
		`node[001-128]`:       "[001-128] matches one character",
		`^gpu-[10,12]$`:       "[10,12] matches one character",
		`node[1-3]`:           "",
		`node-[12]$`:          "",
		`node[0-9]+`:          "",
		`^node-(1|2)$`:        "",
		`node{1..3}`:          "{1..3} stands for these characters",
		`node{1,3}`:           "",
		`kubecon-*`:           "-* at the end matches any number of hyphens",
		`kubecon-.*`:          "",
		`a-*b`:                "",
		`^node-[[:digit:]]+$`: "",
	} {
		got := strings.Join(Hostlist(pattern), "; ")
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
}
