package kubectl

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/internal/lint"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
)

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
			l := &lint.Linter{Policy: o.policy}
			if nodes != "" || live {
				names, err := o.nodeNames(cmd.Context(), nodes, "")
				if err != nil {
					return err
				}
				l.Nodes = append([]string{}, names...)
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

func (o *options) lint(ctx context.Context, l *lint.Linter, paths, exclude []string, strict bool) error {
	for _, pattern := range exclude {
		if _, err := filepath.Match(pattern, ""); err != nil {
			return fmt.Errorf("--exclude %s: %w", pattern, err)
		}
	}
	for _, path := range paths {
		bad := func(file string, err error) { l.Unreadable(shownAs(file), 1, err) }
		all, err := files(ctx, path, exclude, bad)
		if err != nil {
			return err
		}
		for _, file := range all {
			text, err := o.readFile(file)
			if err != nil {
				bad(file, err)
				continue
			}
			l.Read(shownAs(file), text)
		}
	}
	l.Sort()
	if err := o.printFindings(l); err != nil {
		return err
	}
	switch {
	case slices.ContainsFunc(l.Findings, func(f lint.Finding) bool { return f.Rule == lint.Unread }):
		return errUnread
	case slices.ContainsFunc(l.Findings, func(f lint.Finding) bool { return strict || !f.Warning }):
		return errMistakes
	}
	return nil
}

// extensions are the file name extensions of manifests.
var extensions = []string{".yaml", ".yml", ".json"}

// files returns the path itself, or the manifests in a folder. It skips paths and names that
// a pattern of exclude matches, and calls bad for a file that cannot be read.
func files(ctx context.Context, path string, exclude []string, bad func(file string, err error)) (all []string, err error) {
	if path == "-" {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	return all, filepath.WalkDir(path+string(filepath.Separator), func(file string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		relative, _ := filepath.Rel(path, file)
		if slices.ContainsFunc(exclude, func(pattern string) bool { return excludes(pattern, relative) }) {
			if entry != nil && entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if err == nil && (entry.IsDir() || !slices.Contains(extensions, filepath.Ext(file))) {
			return nil
		}
		if err == nil {
			info, err = os.Stat(file) // behind a link
		}
		switch {
		case err != nil:
			bad(file, err)
		case info.Mode().IsRegular():
			all = append(all, file)
		}
		return nil
	})
}

// excludes reports whether a pattern of --exclude matches a path in a folder, or its base name.
func excludes(pattern, path string) bool {
	whole, _ := filepath.Match(pattern, path)
	last, _ := filepath.Match(pattern, filepath.Base(path))
	return path != "." && (whole || last)
}

// shownAs returns the name of a file in findings.
func shownAs(file string) string {
	if file == "-" {
		return "stdin"
	}
	return file
}

func severity(f lint.Finding) string {
	if f.Warning {
		return "warning"
	}
	return "error"
}

// about is a message about the object of a finding.
func about(f lint.Finding, message string) string {
	return strings.TrimPrefix(f.Object+": "+message, ": ")
}

func (o *options) printFindings(l *lint.Linter) error {
	switch o.output {
	case "sarif":
		return printJSON(o.Out, sarif(l.Findings))
	case "json", "yaml":
		return o.print(append([]lint.Finding{}, l.Findings...)) // [], not null
	}
	for _, f := range l.Findings {
		printable.Fprintf(o.Out, "%s:%d:%d: %s: %s (%s)\n", f.File, f.Line, f.Column, severity(f), about(f, f.Text()), f.Rule)
	}
	fmt.Fprintf(o.ErrOut, "%s, %s\n", report.Plural(l.Patterns, "pattern"), report.Plural(len(l.Findings), "finding"))
	return nil
}
