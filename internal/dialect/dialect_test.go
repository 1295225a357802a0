package dialect

import (
	"regexp"
	"strings"
	"testing"
)

func TestPython(t *testing.T) {
	for pattern, want := range map[string]string{
		`kubecon-.*`:             "",
		`a{2}b{1,}c{0,3}`:        "",
		`a{,2}`:                  "in RE2 {,2} stands for these characters",
		`(node|n){,}`:            "write {0,}",
		`a\{,2}`:                 "",
		`[a{,2}]`:                "",
		`[]{,2}]`:                "",
		`[^]{,2}]`:               "",
		`[\]{,2}]`:               "",
		`[a-z]{,2}`:              "{,2}",
		`^node-[[:digit:]]+$`:    "in RE2 [:digit:] is a class",
		`[^[:alpha:]-]`:          "[:alpha:]",
		`[:alpha:]`:              "",
		`[[:^space:]x{,1}]y{,3}`: "{,3}",
	} {
		if _, err := regexp.Compile(pattern); err != nil {
			t.Errorf("%s: %v: there would be no warning", pattern, err)
		}
		got := strings.Join(Python(pattern), "; ")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}
