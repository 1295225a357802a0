package regex_test

import (
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm/regex"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	policy "wasmkwokwizardry.io/regex-scheduling/regex"
)

const annotation = "scheduler.wasmkwokwizardry.io/regex"

// TestPatternIsReadAsRE2 has the patterns of the table in docs/extender.md, and its remedies.
func TestPatternIsReadAsRE2(t *testing.T) {
	reason := func(pattern, node string) string {
		a := regex.New(regex.Default())
		args := &algorithm.Args{Pod: algorithm.Pod{Annotations: map[string]string{annotation: pattern}}, Names: []string{node}}
		failures, err := a.Filter(t.Context(), args)
		testkit.Must(t, err)
		if failures[0] == nil {
			return ""
		}
		return failures[0].Reason
	}
	for _, pattern := range []string{
		`a(?=b)`, `a(?!b)`, `(?<=a)b`, `(?<!a)b`, `(a)\1`, `(?P<x>a)(?P=x)`, `(a)?(?(1)a|b)`, `a\Z`, `a++`, `a*+`, `(?>a)`,
		`(?#c)a`, `(?x)a`, `(?a)a`, `(?u)a`, `\u0041`, `\N{DIGIT ONE}`, `a{1001}`, `(a{500}){500}`,
	} {
		got := reason(pattern, "a")
		if !strings.HasPrefix(got, "node(s) can't be matched: annotation "+annotation+": ") {
			t.Errorf("%s: got %q, want the annotation in it", pattern, got)
		}
	}
	for _, tt := range []struct {
		pattern, node string
		want          bool
	}{
		{`^a{,2}$`, "aa", false},
		{`^a{,2}$`, "a{,2}", true},
		{`^a{0,2}$`, "aa", true},
		{`^[[:alpha:]]$`, "b", true},
		{`^[[:alpha:]]$`, "a]", false},
		{`^\d$`, "٣", false},
		{`^\w$`, "é", false},
		{`^\s$`, "\u00a0", false},
		{`a\b`, "aé", true},
		{`a$`, "a\n", false},
		{`a\z`, "a", true},
		{`a(?i)B`, "ab", true},
		{`\x41\x{1F600}`, "A😀", true},
	} {
		got := reason(tt.pattern, tt.node)
		if (got == "") != tt.want || strings.Contains(got, "annotation") {
			t.Errorf("%s on %q: %q", tt.pattern, tt.node, got)
		}
	}
}

func TestInvalidPatternOfAnyRoleFailsAllNodes(t *testing.T) {
	for r := range policy.Roles {
		t.Run(r.Field(), func(t *testing.T) {
			config, err := policy.ParseConfig([]byte(`{"` + r.Field() + `": "example.com/own"}`))
			testkit.Must(t, err)
			a := regex.New(config)
			args := &algorithm.Args{Pod: algorithm.Pod{Annotations: map[string]string{"example.com/own": "("}}, Names: []string{"a", "b"}}
			failures, err := a.Filter(t.Context(), args)
			testkit.Must(t, err)
			failure := &algorithm.Failure{Reason: `node(s) can't be matched: annotation example.com/own: missing closing ): "("`, Unresolvable: true}
			testkit.Equal(t, failures, []*algorithm.Failure{failure, failure}, "the failures")
			_, err = a.Prioritize(t.Context(), args)
			testkit.Equal(t, err == nil, r.Rejects(), "scores: %v", err)
		})
	}
}
