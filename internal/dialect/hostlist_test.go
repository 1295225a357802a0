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
		`kubecon-.*`:          "",
		`a-*b`:                "",
		`node-0*1`:            "",
		`gpu-?[0-9]+`:         "",
		`gpu-\d*`:             "",
		`^node-[0-9]+a?$`:     "",
		`node-[0-9]+a?`:       "",
		`[0-9]??-a`:           "",
		`gpu-[,a]?`:           "",
		`a{2,3}-(b|c)*`:       "",
		`^node-(1|2)?$`:       "",
		`^node-[[:digit:]]+$`: "",
	} {
		got := strings.Join(Hostlist(pattern), "; ")
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
}

func TestGlobAndListHaveThePatternThatWasMeant(t *testing.T) {
	for pattern, want := range map[string]string{
		`kubecon-*`:       "; for names like that write ^kubecon-",
		`node*`:           "; for names like that write ^node",
		`gpu-??`:          "; for names like that write ^gpu-..$",
		`^node*`:          "; for any text write .*, and . for one character",
		`gpu-?`:           "; for names like that write ^gpu-.$",
		`rack-*-gpu.a`:    `; for names like that write ^rack-.*-gpu\.a$`,
		`^(gpu|cpu)-*$`:   "; for any text write .*, and . for one character",
		`node-1,node-2`:   "; for a list of names write ^(node-1|node-2)$",
		`a-*, gpu-?`:      "; for a list of names write ^(a-.*|gpu-.)$",
		`gpu[1-2],[a-b]1`: "; for a list of names write the alternatives, as in ^(node-1|node-2)$",
		`!gpu`:            "; to exclude nodes, write gpu in the annotation regex-exclude",
		`!gpu-*`:          "; to exclude nodes, write ^gpu- in the annotation regex-exclude",
		`!(gpu|tpu)`:      "; to exclude nodes, write the pattern of the nodes to exclude in the annotation regex-exclude",
	} {
		got := Hostlist(pattern)
		if len(got) != 1 || !strings.HasSuffix(got[0], want) {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
}
