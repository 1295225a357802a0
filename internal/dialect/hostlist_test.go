package dialect

import (
	"fmt"
	"regexp"
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

func TestAHostlistMatchesItsNamesAlone(t *testing.T) {
	for list, names := range map[string]func(i int) string{
		"node[001-128]":         func(i int) string { return fmt.Sprintf("node%03d", i) },
		"node[1-128]":           func(i int) string { return fmt.Sprintf("node%d", i) },
		"rack[1-128]-a":         func(i int) string { return fmt.Sprintf("rack%d-a", i) },
		"n[1-9,10-99,100-128]":  func(i int) string { return fmt.Sprintf("n%d", i) },
		"n[1,2-37,38-128],gpu1": func(i int) string { return fmt.Sprintf("n%d", i) },
	} {
		pattern, err := FromHostlist(list)
		if err != nil {
			t.Fatal(list, err)
		}
		re := regexp.MustCompile(pattern)
		for i := range 1500 {
			if name := names(i); re.MatchString(name) != (i >= 1 && i <= 128) {
				t.Errorf("%s is %s: %s", list, pattern, name)
			}
		}
		for _, other := range []string{"node", "node0128x", "xnode001", "gpu12"} {
			if re.MatchString(other) {
				t.Errorf("%s is %s: %s", list, pattern, other)
			}
		}
	}
	for list, want := range map[string]string{"gpu[1-2],login": "^(gpu([1-2])|login)$", "a.b": `^(a\.b)$`} {
		if got, err := FromHostlist(list); err != nil || got != want {
			t.Errorf("%s: %s, %v", list, got, err)
		}
	}
}

func TestABadHostlist(t *testing.T) {
	for list, want := range map[string]string{
		"node[1-": "a bracket is not closed", "node[a-b]": `"a-b" is not a valid range of numbers`, "node[9-1]": "is not a valid range",
		"a,,b": "a name is empty", "node*": "only ranges in brackets", "n[0-999999999]": "more than 100000 names",
	} {
		if got, err := FromHostlist(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", list, got, err)
		}
	}
}
