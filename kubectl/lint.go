package kubectl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/internal/dialect"
	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Rules of lint. A pattern that the scheduler refuses leaves its pod waiting; an
// annotation that nobody reads lets it run anywhere, which is worse.
const (
	ruleInvalid   = "invalid-pattern"
	ruleNotString = "not-a-string"
	ruleMisplaced = "misplaced"
	ruleMisspelt  = "misspelt"
	ruleDialect   = "other-dialect"
	ruleNoNode    = "no-node"
)

var rules = map[string]string{
	ruleInvalid:   "The scheduler refuses the pattern, and the pod stays pending.",
	ruleNotString: "The value is no string in YAML, and the API server refuses the object.",
	ruleMisplaced: "The annotation is not on a pod or a pod template, where alone it is read.",
	ruleMisspelt:  "The key is almost the one that is read.",
	ruleDialect:   "The pattern means something else in Python's dialect.",
	ruleNoNode:    "The pattern leaves none of the nodes of --nodes or of the cluster.",
}

// finding is one thing that lint has to say.
type finding struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Object is the kind, the namespace and the name, as far as it has them.
	Object  string `json:"object"`
	Rule    string `json:"rule"`
	Warning bool   `json:"warning"`
	Message string `json:"message"`
}

// linter looks at one file's objects after the other.
type linter struct {
	policy   regex.Policy
	nodes    []string // nil: not given
	findings []finding
	looked   int // at so many patterns
}

func newLint(o *options) *cobra.Command {
	var nodes string
	var live, strict bool
	cmd := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Find mistakes in the regex annotations of manifests",
		Long: "Find mistakes in the regex annotations of manifests: of pods, and of the pod templates of every kind that has one.\n" +
			"FILE is a file of YAML or JSON, a folder of them, or - for standard input. What a template engine still has to fill in is for its output:\n" +
			"pipe that of kustomize or Helm into it.",
		Example: "  kubectl regex lint deploy/\n" +
			"  helm template . | kubectl regex lint -\n" +
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
			return o.lint(cmd.Context(), l, files, strict)
		},
	}
	cmd.Flags().StringVar(&nodes, "nodes", "", "Warn of patterns that match none of the nodes in a file, one name a line")
	cmd.Flags().BoolVar(&live, "live", false, "Warn of patterns that match none of the cluster's nodes")
	cmd.MarkFlagsMutuallyExclusive("nodes", "live")
	cmd.Flags().BoolVar(&strict, "strict", false, "Exit with 1 for warnings, too")
	o.addOutput(cmd, "text", "json", "yaml", "sarif")
	return cmd
}

func (o *options) lint(ctx context.Context, l *linter, files []string, strict bool) error {
	for _, file := range files {
		if err := o.eachManifest(ctx, file, l.look); err != nil {
			return err
		}
	}
	slices.SortStableFunc(l.findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	if err := o.printFindings(l); err != nil {
		return err
	}
	if slices.ContainsFunc(l.findings, func(f finding) bool { return strict || !f.Warning }) {
		return errMistakes
	}
	return nil
}

// look lints one object.
func (l *linter) look(m manifest) {
	for _, at := range m.metadata {
		for _, entry := range at.annotations {
			l.annotation(m, at, entry)
		}
		for _, entry := range at.labels {
			l.label(m, entry)
		}
	}
}

func (l *linter) annotation(m manifest, at metadata, entry entry) {
	keys := l.keys()
	switch {
	case !slices.Contains(keys, entry.key):
		for _, key := range keys {
			if closest(entry.key, keys) == key || at.ofPod && isNameOf(entry.key, key) {
				l.report(m, entry, ruleMisspelt, "annotation %s: nobody reads it; did you mean %s?", entry.key, key)
				break
			}
		}
	case !at.ofPod:
		l.report(m, entry, ruleMisplaced, "annotation %s: it is read on pods only; move it to %s", entry.key, m.wanted())
	case !entry.isString:
		l.report(m, entry, ruleNotString, "annotation %s: %s is not a string in YAML; put it in quotes", entry.key, entry.value)
	default:
		l.pattern(m, entry)
	}
}

func (l *linter) label(m manifest, entry entry) {
	if key := closest(entry.key, l.keys()); key != "" {
		l.report(m, entry, ruleMisplaced, "label %s: nobody reads it; it must be an annotation, with the key %s", entry.key, key)
	}
}

// keys are those that are read.
func (l *linter) keys() []string { return []string{l.policy.Annotation, l.policy.ExcludeAnnotation} }

func (l *linter) pattern(m manifest, entry entry) {
	l.looked++
	selector, err := l.policy.Selector(map[string]string{entry.key: entry.value})
	if err == nil && l.nodes != nil && len(matching(selector, l.nodes)) == 0 {
		problem := "matches none of"
		if entry.key == l.policy.ExcludeAnnotation {
			problem = "matches all of"
		}
		l.report(m, entry, ruleNoNode, "annotation %s: %s %s: %s", entry.key, problem, count(len(l.nodes), "node", "nodes"), shown(entry.value))
	}
	var wrong *regex.PatternError
	if errors.As(err, &wrong) {
		l.report(m, entry, ruleInvalid, "%s", wrong)
		return
	}
	for _, difference := range dialect.Python(entry.value) {
		l.report(m, entry, ruleDialect, "annotation %s: %s: %s", entry.key, difference, shown(entry.value))
	}
}

// warnings are the rules whose findings may be meant.
var warnings = []string{ruleDialect, ruleNoNode}

func (l *linter) report(m manifest, at entry, rule, format string, args ...any) {
	l.findings = append(l.findings, finding{
		File: m.file, Line: at.line, Column: at.column, Object: m.String(),
		Rule: rule, Warning: slices.Contains(warnings, rule), Message: fmt.Sprintf(format, args...),
	})
}

func (o *options) printFindings(l *linter) error {
	switch o.output {
	case "sarif":
		return printJSON(o.Out, sarif(l.findings))
	case "json", "yaml":
		return o.print(slices.Concat([]finding{}, l.findings)) // [], not null
	}
	for _, f := range l.findings {
		severity := "error"
		if f.Warning {
			severity = "warning"
		}
		fmt.Fprintf(o.Out, "%s:%d:%d: %s: %s: %s (%s)\n", f.File, f.Line, f.Column, severity, f.Object, f.Message, f.Rule)
	}
	fmt.Fprintf(o.ErrOut, "%s, %s\n", count(l.looked, "pattern", "patterns"), count(len(l.findings), "finding", "findings"))
	return nil
}

// closest is that of the wanted keys which a key is, but for a few letters or for
// case, or "".
func closest(key string, wanted []string) string {
	if slices.Contains(wanted, key) {
		return key
	}
	return yamlcheck.Closest(key, wanted)
}

// isNameOf reports whether a key is what stands behind the slash of another one.
func isNameOf(key, wanted string) bool {
	_, name, _ := strings.Cut(wanted, "/")
	return strings.EqualFold(key, name)
}
