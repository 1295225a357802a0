package regex

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	var hundred []string
	for i := range 100 {
		hundred = append(hundred, "node-pool-"+string(rune('a'+i%26))+"-"+string(rune('0'+i%10))+string(rune('a'+i/26)))
	}
	slices.Sort(hundred)
	hundred = slices.Compact(hundred)
	tests := []struct {
		name, pattern string
		want          []string
	}{
		{"one name", `^kubecon-1$`, []string{"kubecon-1"}},
		{"an alternation", `^(kubecon-2|kubecon-1|kubecon-2)$`, []string{"kubecon-1", "kubecon-2"}},
		{"a class", `^node-[1-3]$`, []string{"node-1", "node-2", "node-3"}},
		{"options", `^a?b?$`, []string{"", "a", "ab", "b"}},
		{"a counted repeat", `^a{2,3}$`, []string{"aa", "aaa"}},
		{"ignored case", `^(?i)A-?B$`, []string{"a-b", "ab"}},
		{"assertions of the text", `\Aa\b-\bb\z`, []string{"a-b"}},
		{"a hundred names", "^(" + strings.Join(hundred, "|") + ")$", hundred},
		{"anchors within", `^a$|^b$`, []string{"a", "b"}},
		{"characters that no node bears are left out", `^[A-Ca_]$`, []string{"a"}},
		{"not anchored at the beginning", `kubecon-1$`, nil},
		{"not anchored at the end", `^kubecon-1`, nil},
		{"anchored in one branch only", `^a$|b`, nil},
		{"a star", `^a*$`, nil},
		{"a star that leads nowhere", `^(?:a*\b\B|b)$`, nil},
		{"too many", `^[a-z]{2}$`, nil},
		{"ways that lead nowhere", `^(?:[a-z]{30}\b\B|b)$`, []string{"b"}},
		{"lines, not text", `(?m)^a$`, nil},
		{"no node can match", `^A$`, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := mustCompile(t, tc.pattern).Names(); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// FuzzNames checks that every name that is listed matches, and that none which
// a node can bear and which matches is missing: neither name itself nor what it
// becomes by small changes to the names of the list.
func FuzzNames(f *testing.F) {
	for i, pattern := range append(patterns, `^node-[1-5]$`, `^(a|b)?c$`, `^a$|^b\b$`, `^(?i)(K|s)$`) {
		f.Add(pattern, names[i%len(names)])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		selector, err := Default.Compile(pattern)
		if err != nil || len(selector.Names()) == 0 {
			return
		}
		if !slices.IsSorted(selector.Names()) {
			t.Errorf("%q: not in order: %q", pattern, selector.Names())
		}
		listed, re := selector.Names(), regexp.MustCompile(pattern)
		candidates := []string{name}
		for _, n := range listed[:min(len(listed), 20)] {
			if !re.MatchString(n) {
				t.Errorf("%q does not match %q", pattern, n)
			}
			for _, c := range strings.Split(nodeChars, "") {
				candidates = append(candidates, n+c, c+n)
				for at := range n {
					candidates = append(candidates, n[:at]+c+n[at+1:], n[:at]+n[at+1:])
				}
			}
		}
		for _, n := range candidates {
			if canBeANode(n) && re.MatchString(n) && !slices.Contains(listed, n) {
				t.Errorf("%q matches %q, which is not in %q", pattern, n, listed)
			}
		}
	})
}

func canBeANode(name string) bool {
	return len(name) <= maxNameLength && strings.Trim(name, nodeChars) == ""
}
