// Package lint finds mistakes in the regex annotations of manifests, before a scheduler reads them. It reads text, and no cluster.
//
// It knows Kubernetes' own kinds. Of others it does not know which part becomes a pod: there, a map of annotations that has
// one of ours is checked wherever it stands.
package lint

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/internal/dialect"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// The rules. With a pattern that the scheduler refuses, the pod stays pending. With an annotation without effect, it runs
// anywhere, which is worse.
const (
	Invalid   = "invalid-pattern"
	NotString = "not-a-string"
	Misplaced = "misplaced"
	Misspelt  = "misspelt"
	Dialect   = "other-dialect"
	NoNode    = "no-node"
	Hostlist  = "hostlist"
	Pasted    = "pasted"
	Unread    = "unreadable"
)

// Rules says what each rule finds.
var Rules = map[string]string{
	Invalid:   "The scheduler refuses the pattern, and the pod stays pending.",
	NotString: "The value is not a string in YAML, so the API server refuses the object.",
	Misplaced: "The annotation is not on a pod or a pod template, so it has no effect.",
	Misspelt:  "The key is almost that of the annotation, so it has no effect.",
	Dialect:   "The pattern means something else in Python's dialect.",
	Hostlist:  "The pattern looks like a hostlist or a glob, and means something else as a regular expression.",
	Pasted:    "The pattern has quotes or white space around it, which no node's name has.",
	Unread:    "The file cannot be read, so it was not checked.",
	NoNode:    "The pattern matches none of the nodes in --nodes or in the cluster.",
}

// warnings are the rules that find what may be intended.
var warnings = []string{Dialect, Hostlist, Pasted, NoNode}

// Finding is a mistake or a warning.
type Finding struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Object is the kind, namespace and name, as far as they are set.
	Object  string `json:"object"`
	Rule    string `json:"rule"`
	Warning bool   `json:"warning"`
	Message string `json:"message"`

	pattern string // that Message ends with; it may be empty
}

// Text is the message for people. It cuts a long pattern at its end, which Message has as it is.
func (f Finding) Text() string {
	return strings.TrimSuffix(f.Message, f.pattern) + printable.Short(f.pattern)
}

// Linter checks one text after the other.
type Linter struct {
	Policy   regex.Policy
	Nodes    []string // nil: not given
	Findings []Finding
	Patterns int // that were checked
}

// Sort sorts the findings by their places.
func (l *Linter) Sort() {
	slices.SortFunc(l.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Object, b.Object), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
}

var parserLine = regexp.MustCompile(`^yaml: line (\d+): `)

// Unreadable reports a file that cannot be read, or a document from a line on.
func (l *Linter) Unreadable(file string, line int, err error) {
	l.Findings = append(l.Findings, Finding{File: file, Line: line, Column: 1, Rule: Unread, Message: err.Error()})
}

const (
	labelMisplaced     = "label %s: it has no effect; it must be an annotation with the key %s"
	annotationMisspelt = "annotation %s: it has no effect; did you mean %s?"
)

// meantKey returns the policy's key that a key is, or is nearly, or "". A pod's annotation
// may lack the prefix.
func meantKey(policy regex.Policy, key string, onPod bool) string {
	keys := policy.Keys()
	meant := yamlcheck.Closest(key, keys)
	if meant != "" || !onPod {
		return meant
	}
	for _, known := range keys {
		_, name, _ := strings.Cut(known, "/")
		if strings.EqualFold(key, name) {
			return known
		}
	}
	return ""
}

// Keys finds annotations and labels of a pod whose key is nearly one of the policy.
func Keys(policy regex.Policy, annotations, labels map[string]string) (notes []string) {
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		meant := meantKey(policy, key, true)
		if meant != "" && meant != key {
			notes = append(notes, fmt.Sprintf(annotationMisspelt, key, meant))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		meant := meantKey(policy, key, false)
		if meant != "" {
			notes = append(notes, fmt.Sprintf(labelMisplaced, key, meant))
		}
	}
	return notes
}

// namespaceKey is the annotation of a Namespace that deploy/policy/default gives to its pods.
const namespaceKey = "scheduler.wasmkwokwizardry.io/default-regex"

// look checks an annotation or a label of an object.
func (l *Linter) look(m *manifest, e entry) {
	if m.kind == "Namespace" && !e.isLabel && e.key == namespaceKey {
		l.value(m, e, l.Policy.Annotation)
		return
	}
	meant := meantKey(l.Policy, e.key, e.ofPod && !e.isLabel)
	switch {
	case meant == "":
	case e.isLabel && m.isCustom() && !e.ofPod:
	case e.isLabel:
		l.report(m, e, Misplaced, labelMisplaced, e.key, meant)
	case meant != e.key:
		l.report(m, e, Misspelt, annotationMisspelt, e.key, meant)
	default:
		l.value(m, e, e.key)
		l.place(m, e)
	}
}

// ofOthers is what a field of a custom resource, or of values, is called that is about other objects than pods.
var ofOthers = regexp.MustCompile(`(?i)service|ingress|secret|claim|persist|pvc`)

// place finds an annotation that is not where a scheduler reads it.
func (l *Linter) place(m *manifest, e entry) {
	switch {
	case e.ofPod:
	case !m.isCustom():
		l.report(m, e, Misplaced, "annotation %s: it is read on pods only; move it to %s", e.key, m.wanted())
	case m.kind != "" && e.path == "metadata.annotations":
		l.report(m, e, Misplaced, "annotation %s: it is read on pods only; does the controller of %s copy it to them?", e.key, m.kind).Warning = true
	case ofOthers.MatchString(e.path):
		l.report(m, e, Misplaced, "annotation %s: it is read on pods only; is %s for pods?", e.key, e.path).Warning = true
	}
}

// value checks the value of an annotation, as the pattern of another key of the policy.
func (l *Linter) value(m *manifest, e entry, as string) {
	if !isString(e.at) {
		l.report(m, e, NotString, "annotation %s: %s is not a string in YAML; put it in quotes", e.key, cmp.Or(e.at.Value, "the value"))
		return
	}
	l.Patterns++
	pattern := e.at.Value
	rules, err := l.Policy.Compile(map[string]string{as: pattern})
	chooses := func(node string) bool { return rules.Judge(node) == regex.Qualifies }
	if rules.Scores() {
		chooses = rules.Prefers
	}
	if err == nil && l.Nodes != nil && !slices.ContainsFunc(l.Nodes, chooses) {
		problem := "matches none of"
		if as == l.Policy.ExcludeAnnotation {
			problem = "matches all of"
		}
		l.report(m, e, NoNode, "annotation %s: %s %s: %s", e.key, problem, report.Plural(len(l.Nodes), "node"), Shown(pattern)).pattern = Shown(pattern)
	}
	var wrong *regex.PatternError
	if errors.As(err, &wrong) {
		l.report(m, e, Invalid, "%s", strings.Replace(wrong.Error(), wrong.Annotation, e.key, 1))
		return
	}
	for rule, notes := range map[string][]string{Dialect: dialect.Python(pattern), Hostlist: dialect.Hostlist(pattern), Pasted: dialect.Pasted(pattern)} {
		for _, note := range notes {
			l.report(m, e, rule, "annotation %s: %s: %s", e.key, note, Shown(pattern)).pattern = Shown(pattern)
		}
	}
}

// report adds a finding, and returns it.
func (l *Linter) report(m *manifest, e entry, rule, format string, args ...any) *Finding {
	l.Findings = append(l.Findings, Finding{
		File: m.file, Line: e.at.Line, Column: e.at.Column, Object: m.String(), Rule: rule,
		Warning: slices.Contains(warnings, rule), Message: fmt.Sprintf(format, args...),
	})
	return &l.Findings[len(l.Findings)-1]
}

// Shown returns a pattern as it is. It quotes one that would break a line or control a
// terminal.
func Shown(pattern string) string {
	if strings.ContainsRune(pattern, '\t') || !strconv.CanBackquote(strings.ReplaceAll(pattern, "`", "")) {
		return strconv.Quote(pattern)
	}
	return pattern
}
