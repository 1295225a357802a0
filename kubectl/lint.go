package kubectl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/internal/dialect"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Rules of lint. With a pattern that the scheduler refuses, the pod stays pending. With an
// annotation without effect, it runs anywhere, which is worse.
const (
	ruleInvalid   = "invalid-pattern"
	ruleNotString = "not-a-string"
	ruleMisplaced = "misplaced"
	ruleMisspelt  = "misspelt"
	ruleDialect   = "other-dialect"
	ruleNoNode    = "no-node"
	ruleHostlist  = "hostlist"
	ruleUnread    = "unreadable"
)

var rules = map[string]string{
	ruleInvalid:   "The scheduler refuses the pattern, and the pod stays pending.",
	ruleNotString: "The value is not a string in YAML, so the API server refuses the object.",
	ruleMisplaced: "The annotation is not on a pod or a pod template, so it has no effect.",
	ruleMisspelt:  "The key is almost that of the annotation, so it has no effect.",
	ruleDialect:   "The pattern means something else in Python's dialect.",
	ruleHostlist:  "The pattern looks like a hostlist or a glob, and means something else as a regular expression.",
	ruleUnread:    "The file cannot be read, so it was not checked.",
	ruleNoNode:    "The pattern matches none of the nodes in --nodes or in the cluster.",
}

// finding is a mistake or a warning.
type finding struct {
	File string `json:"file"`
	// Line and Column are 0 in JSON, where Object says which it is.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Object is the kind, namespace and name, as far as they are set.
	Object  string `json:"object"`
	Rule    string `json:"rule"`
	Warning bool   `json:"warning"`
	Message string `json:"message"`
}

// linter checks one object after the other.
type linter struct {
	policy   regex.Policy
	nodes    []string // nil: not given
	findings []finding
	patterns int // that were checked
}

func newLint(o *options) *cobra.Command {
	var nodes string
	var live, strict bool
	var exclude []string
	cmd := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Find mistakes in the regex annotations of manifests",
		Long: "Find mistakes in the regex annotations of manifests: of pods, and of every kind with a pod template.\n\n" +
			"FILE is a YAML or JSON file, a folder of them, or - for standard input. A file that cannot be read is a finding, too.\n" +
			"lint does not read templates: pipe the output of kustomize or Helm into it.",
		Example: "  kubectl regex lint deploy/\n" +
			"  helm template . | kubectl regex lint -\n" +
			"  kubectl get pods -A -o json | kubectl regex lint -\n" +
			"  kubectl regex lint -o sarif deploy/ >regex.sarif",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			l := &linter{policy: o.policy}
			if nodes != "" || live {
				names, err := o.nodeNames(cmd.Context(), nodes, "")
				if err != nil {
					return err
				}
				l.nodes = append([]string{}, names...)
			}
			return o.lint(cmd.Context(), l, files, exclude, strict)
		},
	}
	cmd.Flags().StringVar(&nodes, "nodes", "", "Warn of patterns that match none of the nodes in this file, which has one name in a line")
	cmd.Flags().BoolVar(&live, "live", false, "Warn of patterns that match none of the cluster's nodes")
	cmd.MarkFlagsMutuallyExclusive("nodes", "live")
	cmd.Flags().StringArrayVar(&exclude, "exclude", nil, "Skip the files and folders whose path or name matches this glob, such as 'templates' or '*.tmpl.yaml'; can be repeated")
	cmd.Flags().BoolVar(&strict, "strict", false, "Exit with status 1 for warnings, too")
	o.addOutput(cmd, "text", "json", "yaml", "sarif")
	return cmd
}

func (o *options) lint(ctx context.Context, l *linter, paths, exclude []string, strict bool) error {
	for _, pattern := range exclude {
		if _, err := filepath.Match(pattern, ""); err != nil {
			return fmt.Errorf("--exclude %s: %w", pattern, err)
		}
	}
	for _, path := range paths {
		all, err := files(ctx, path, exclude, l.unreadable)
		if err != nil {
			return err
		}
		for _, file := range all {
			if err := o.eachManifest(file, l.look); err != nil {
				l.unreadable(file, err)
			}
		}
	}
	slices.SortFunc(l.findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Object, b.Object), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	if err := o.printFindings(l); err != nil {
		return err
	}
	switch {
	case slices.ContainsFunc(l.findings, func(f finding) bool { return f.Rule == ruleUnread }):
		return errUnread
	case slices.ContainsFunc(l.findings, func(f finding) bool { return strict || !f.Warning }):
		return errMistakes
	}
	return nil
}

// unreadable reports a file that cannot be read, or not to its end.
func (l *linter) unreadable(file string, err error) {
	l.findings = append(l.findings, finding{File: shownAs(file), Line: lineOf(err), Column: 1, Rule: ruleUnread, Message: err.Error()})
}

// lineOf returns the line that a YAML error names, or 1.
func lineOf(err error) int {
	line := 1
	if _, text, ok := strings.Cut(err.Error(), "yaml: line "); ok {
		_, _ = fmt.Sscanf(text, "%d", &line)
	}
	return line
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

// look checks an annotation or a label of an object.
func (l *linter) look(m *manifest, e entry) {
	meant := meantKey(l.policy, e.key, e.ofPod && !e.isLabel)
	switch {
	case meant == "":
	case e.isLabel && m.isCustom() && !e.ofPod:
	case e.isLabel:
		l.report(m, e, ruleMisplaced, labelMisplaced, e.key, meant)
	case meant != e.key:
		l.report(m, e, ruleMisspelt, annotationMisspelt, e.key, meant)
	case !e.ofPod && m.isCustom():
		l.report(m, e, ruleMisplaced, "annotation %s: it is read on pods only; does the controller of %s copy it to them?", e.key, m.kind).Warning = true
	case !e.ofPod:
		l.report(m, e, ruleMisplaced, "annotation %s: it is read on pods only; move it to %s", e.key, m.wanted())
	case e.at.ShortTag() != "!!str":
		l.report(m, e, ruleNotString, "annotation %s: %s is not a string in YAML; put it in quotes", e.key, e.at.Value)
	default:
		l.pattern(m, e)
	}
}

func (l *linter) pattern(m *manifest, e entry) {
	l.patterns++
	pattern := e.at.Value
	annotations := map[string]string{e.key: pattern}
	selector, err := l.policy.Selector(annotations)
	if selector == nil && err == nil { // the pattern rejects no nodes
		selector, err = l.policy.Preference(annotations)
	}
	if err == nil && l.nodes != nil && len(matching(selector, l.nodes)) == 0 {
		problem := "matches none of"
		if e.key == l.policy.ExcludeAnnotation {
			problem = "matches all of"
		}
		l.report(m, e, ruleNoNode, "annotation %s: %s %s: %s", e.key, problem, report.Plural(len(l.nodes), "node"), shown(pattern))
	}
	var wrong *regex.PatternError
	if errors.As(err, &wrong) {
		l.report(m, e, ruleInvalid, "%s", wrong)
		return
	}
	for _, difference := range dialect.Python(pattern) {
		l.report(m, e, ruleDialect, "annotation %s: %s: %s", e.key, difference, shown(pattern))
	}
	for _, habit := range dialect.Hostlist(pattern) {
		l.report(m, e, ruleHostlist, "annotation %s: %s: %s", e.key, habit, shown(pattern))
	}
}

// warnings are the rules that find what may be intended.
var warnings = []string{ruleDialect, ruleHostlist, ruleNoNode}

// report adds a finding, and returns it.
func (l *linter) report(m *manifest, e entry, rule, format string, args ...any) *finding {
	l.findings = append(l.findings, finding{
		File: m.file, Line: e.at.Line, Column: e.at.Column, Object: m.String(), Rule: rule,
		Warning: slices.Contains(warnings, rule), Message: fmt.Sprintf(format, args...),
	})
	return &l.findings[len(l.findings)-1]
}

func (f finding) severity() string {
	if f.Warning {
		return "warning"
	}
	return "error"
}

// place is the file, with the position where it is known.
func (f finding) place() string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
}

// about is the message, with the object that it is about.
func (f finding) about() string { return strings.TrimPrefix(f.Object+": "+f.Message, ": ") }

func (o *options) printFindings(l *linter) error {
	switch o.output {
	case "sarif":
		return printJSON(o.Out, sarif(l.findings))
	case "json", "yaml":
		return o.print(append([]finding{}, l.findings...)) // [], not null
	}
	for _, f := range l.findings {
		fmt.Fprintf(o.Out, "%s: %s: %s (%s)\n", f.place(), f.severity(), f.about(), f.Rule)
	}
	fmt.Fprintf(o.ErrOut, "%s, %s\n", report.Plural(l.patterns, "pattern"), report.Plural(len(l.findings), "finding"))
	return nil
}
