package kubectl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"wasmkwokwizardry.io/regex-scheduling/internal/lint"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// run runs the command with standard input.
func run(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	status = Run(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(stdin), Out: &out, ErrOut: &errOut})
	return status, out.String(), errOut.String()
}

// wantRun fails a test unless the command ends with a status, and prints so many lines with all that is wanted in them.
func wantRun(t *testing.T, stdin string, args []string, status, lines int, wants ...string) (stdout, stderr string) {
	t.Helper()
	got, stdout, stderr := run(t, stdin, args...)
	testkit.Equal(t, got, status, "exit status of %q: %s%s", args, stdout, stderr)
	testkit.Equal(t, strings.Count(stdout, "\n"), lines, "lines of %q:\n%s", args, stdout)
	testkit.Has(t, stdout, wants...)
	return stdout, stderr
}

const key = "scheduler.wasmkwokwizardry.io/regex"

// pod is a manifest of a pod with these annotations.
func pod(annotations string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  annotations: {" + annotations + "}\n"
}

func TestLintFinds(t *testing.T) {
	for name, tt := range map[string]struct{ manifest, want string }{
		"a good pattern":         {pod(key + ": 'kubecon-.*'"), ""},
		"no annotation":          {pod(""), ""},
		"an empty file":          {"", ""},
		"Helm's values":          {"image: x\nweb: {podAnnotations: {" + key + ": '('}}\n", "stdin:2:61: error: annotation " + key + ": missing closing ): \"(\" (invalid-pattern)"},
		"good Helm's values":     {"commonAnnotations: {" + key + ": 'a'}\npodLabels: {a/b: c}\nregex: {regex: x}\n", ""},
		"values of a service":    {"service: {annotations: {" + key + ": 'a'}}\n", "is service.annotations for pods? (misplaced)"},
		"values without prefix":  {"podAnnotations: {regex: x}\n", "did you mean " + key + "? (misspelt)"},
		"a ConfigMap of values":  {"apiVersion: v1\nkind: ConfigMap\ndata: {" + key + ": 'a'}\n", "move it to the metadata.annotations of a pod or of a pod template (misplaced)"},
		"podMetadata":            {"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nspec: {podMetadata: {annotations: {" + key + ": '('}}}\n", "error: Prometheus: annotation " + key + ": missing closing )"},
		"a driver of Spark":      {"apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nspec: {driver: {annotations: {" + key + ": 'a'}}, executor: {annotations: {" + key + ": '('}}}\n", "error: SparkApplication: annotation " + key + ": missing closing )"},
		"inheritedMetadata":      {"apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nspec: {inheritedMetadata: {annotations: {" + key + ": '('}}}\n", "(invalid-pattern)"},
		"Zalando's Postgres":     {"apiVersion: acid.zalan.do/v1\nkind: postgresql\nspec: {podAnnotations: {" + key + ": '('}}\n", "(invalid-pattern)"},
		"Strimzi's pods":         {"apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nspec: {kafka: {template: {pod: {metadata: {annotations: {" + key + ": '('}}}}}}\n", "(invalid-pattern)"},
		"Strimzi's services":     {"apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nspec: {kafka: {template: {bootstrapService: {metadata: {annotations: {" + key + ": 'a'}}}}}}\n", "warning: Kafka: annotation " + key + ": it is read on pods only; is spec.kafka.template.bootstrapService.metadata.annotations for pods? (misplaced)"},
		"a TaskRun":              {"apiVersion: tekton.dev/v1\nkind: TaskRun\nmetadata: {name: t, annotations: {" + key + ": 'a'}}\n", "does the controller of TaskRun copy it to them? (misplaced)"},
		"a kustomization":        {"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\ncommonAnnotations: {" + key + ": '('}\n", "(invalid-pattern)"},
		"an object in an object": {"apiVersion: work.example.com/v1\nkind: Work\nspec: {manifests: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, annotations: {" + key + ": 'a'}}}]}\n", "error: Deployment d: annotation " + key + ": it is read on pods only; move it to spec.template.metadata.annotations"},
		"a namespace's default":  {"apiVersion: v1\nkind: Namespace\nmetadata: {name: n, annotations: {scheduler.wasmkwokwizardry.io/default-regex: '('}}\n", "error: Namespace n: annotation scheduler.wasmkwokwizardry.io/default-regex: missing closing ): \"(\" (invalid-pattern)"},
		"a good default":         {"apiVersion: v1\nkind: Namespace\nmetadata: {name: n, annotations: {scheduler.wasmkwokwizardry.io/default-regex: '^a'}}\n", ""},
		"yes":                    {pod(key + ": yes"), "yes is not a string in YAML; put it in quotes (not-a-string)"},
		"on":                     {pod(key + ": on"), "on is not a string in YAML"},
		"n":                      {pod(key + ": n"), "n is not a string in YAML"},
		"octal":                  {pod(key + ": 0o17"), "0o17 is not a string in YAML"},
		"yes in quotes":          {pod(key + ": 'yes'"), ""},
		"a date":                 {pod(key + ": 2026-01-02"), ""},
		"a mapping":              {pod(key + ": {a: b}"), "the value is not a string in YAML"},
		"null":                   {pod(key + ": ~"), "~ is not a string in YAML"},
		"pasted quotes":          {pod(key + `: "'kubecon-.*'"`), "warning: Pod p: annotation " + key + ": the quotes are part of it, and no node's name has quotes; remove them: 'kubecon-.*' (pasted)"},
		"a line break":           {"apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    " + key + ": |\n      kubecon-.*\n", "it ends with a line break, which no node's name has; write |- in place of |"},
		"a space":                {pod(key + ": 'kubecon '"), "it begins or ends with white space"},
		"JSON of a custom kind":  {`{"apiVersion":"acid.zalan.do/v1","kind":"postgresql","spec":{"podAnnotations":{"` + key + `":"("}}}`, "stdin:1:118: error: postgresql: annotation"},
		"JSON with a number":     {`{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"` + key + `":1}}}`, "1 is not a string"},
		"not RE2":                {pod(key + ": 'a(?!b)'"), `5:54: error: Pod p: annotation ` + key + `: invalid or unsupported Perl syntax "(?!": "a(?!b)" (invalid-pattern)`},
		"a bad exclusion":        {pod(key + "-exclude: 'a(?!b)'"), "annotation " + key + `-exclude: invalid or unsupported Perl syntax "(?!"`},
		"an exclusion misspelt":  {pod(key + "-exlude: a"), "did you mean " + key + "-exclude? (misspelt)"},
		"a number":               {pod(key + ": 12"), "12 is not a string in YAML; put it in quotes (not-a-string)"},
		"a letter missing":       {pod("scheduler.wasmkwokwizardy.io/regex: x"), "did you mean " + key + "? (misspelt)"},
		"without its prefix":     {pod("regex: x"), "(misspelt)"},
		"Python's way to repeat": {pod(key + ": 'n{,3}'"), "warning: Pod p: annotation " + key + ": in RE2 {,3} stands for these characters"},
		"a label":                {"apiVersion: v1\nkind: Pod\nmetadata: {labels: {" + key + ": x}}\n", "it must be an annotation"},
		"a pod's name by halves": {"apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-, namespace: n, annotations: {" + key + ": '('}}\n", "Pod n/p-:"},
		"on a service":           {"apiVersion: v1\nkind: Service\nmetadata: {annotations: {" + key + ": x}}\n", "move it to the metadata.annotations of a pod or of a pod template (misplaced)"},
		"on a claim's template":  {"apiVersion: apps/v1\nkind: StatefulSet\nspec: {volumeClaimTemplates: [{metadata: {annotations: {" + key + ": x}}}]}\n", "move it to spec.template.metadata.annotations (misplaced)"},
		"a kind of somebody's":   {"apiVersion: example.com/v1\nkind: Rollout\nspec: {template: {metadata: {annotations: {" + key + ": '('}}, spec: {containers: []}}}\n", "(invalid-pattern)"},
		"in a list":              {"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod, metadata: {annotations: {" + key + ": '('}}}]\n", "3:99"},
		"in the second document": {pod("") + "---\n" + pod(key+": '('"), "11:54: error"},
		"merged from two":        {"apiVersion: v1\nkind: Pod\nx: &x {" + key + ": '('}\ny: &y {}\nmetadata: {annotations: {<<: [*y, *x]}}\n", "3:45: error"},
		"a typed list":           {"apiVersion: v1\nkind: PodList\nitems: [{metadata: {name: p, annotations: {" + key + ": '('}}}]\n", "3:81: error: Pod p: annotation"},
		"a workflow of Argo":     {"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec: {templates: [{name: a, metadata: {annotations: {" + key + ": 'a'}}, container: {image: x}}]}\n", ""},
		"a machine of KubeVirt":  {"apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nspec: {template: {metadata: {annotations: {" + key + ": 'a'}}, spec: {domain: {}}}}\n", ""},
		"on a custom resource":   {"apiVersion: example.com/v1\nkind: Site\nmetadata: {annotations: {" + key + ": 'a'}}\n", "warning: Site: annotation " + key + ": it is read on pods only; does the controller of Site copy it to them?"},
		"a hostlist":             {pod(key + ": 'node[001-128]'"), "warning: Pod p: annotation " + key + ": [001-128] matches one character"},
		"a glob":                 {pod(key + ": 'kubecon-*'"), "(hostlist)"},
		"an alias of a template": {"apiVersion: apps/v1\nkind: Deployment\nx: &x {metadata: {annotations: {" + key + ": '('}}}\nspec: {template: *x}\n", "error"},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, stderr := run(t, tt.manifest, "lint", "--strict", "-")
			want := min(len(tt.want), 1)
			testkit.Equal(t, status, want, "exit status: %s", stderr)
			if tt.want == "" && out != "" || !strings.Contains(out, tt.want) || strings.Count(out, "\n") > 1 {
				t.Errorf("got  %s\nwant %s", out, tt.want)
			}
		})
	}
}

func TestEveryKindsPodTemplateIsLinted(t *testing.T) {
	for kind, path := range lint.Templates {
		bad := key + ": '('"
		before, after := "", ""
		for field := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '.' }) {
			before, after = before+field+": {", after+"}"
		}
		manifest := "apiVersion: v1\nkind: " + kind + "\n" + strings.Replace(before+"metadata: {annotations: {"+bad+"}}"+after, "{", "{ ", 1) + "\n"
		out, _ := wantRun(t, manifest, []string{"lint", "-"}, exitMistakes, 1)
		testkit.Equal(t, strings.Count(out, lint.Invalid), 1, "findings in a %s: %s%s", kind, out, manifest)
	}
}

// write writes a file of a folder, and the folders in between.
func write(t *testing.T, folder, name, text string) {
	t.Helper()
	file := filepath.Join(folder, name)
	testkit.Must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	testkit.WriteFile(t, file, text)
}

func TestLintReadsFoldersAndWarnsOfNodesThatAreNotThere(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "sub/a.yaml", pod(key+": '^gpu-'"))
	write(t, folder, "b.json", `{"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": {"`+key+`": "kubecon"}}}`)
	write(t, folder, "notes.txt", pod(key+": '('"))
	nodes := testkit.TempFile(t, "nodes", "node/kubecon-1\n\nkubecon-2\n")
	const finding = "sub/a.yaml:5:54: warning: Pod p: annotation " + key + ": matches none of 2 nodes: ^gpu- (no-node)"
	_, stderr := wantRun(t, "", []string{"lint", folder, "--nodes", nodes}, 0, 1, finding)
	testkit.Equal(t, stderr, "2 patterns, 1 finding\n", "standard error")
	wantRun(t, "", []string{"lint", folder, "--nodes", nodes, "--strict"}, exitMistakes, 1, finding)
}

func TestSARIF(t *testing.T) {
	status, out, stderr := run(t, pod(key+": '('"), "lint", "-o", "sarif", "-")
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID, Level string
				Message       struct{ Text string }
				Locations     []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn int }
					}
				}
			}
		}
	}
	err := json.Unmarshal([]byte(out), &log)
	if err != nil || status != exitMistakes {
		t.Fatalf("exit status %d, %v: %s%s", status, err, out, stderr)
	}
	result := log.Runs[0].Results[0]
	place := result.Locations[0].PhysicalLocation
	if log.Version != "2.1.0" || len(log.Runs[0].Tool.Driver.Rules) != len(lint.Rules) || result.RuleID != lint.Invalid || result.Level != "error" ||
		place.ArtifactLocation.URI != "stdin" || place.Region.StartLine != 5 || place.Region.StartColumn != 54 {
		t.Errorf("got %s", out)
	}
	for format, want := range map[string]string{"sarif": `"results": []`, "json": "[]\n"} {
		status, out, _ := run(t, "", "lint", "-o", format, "-")
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("%s of nothing: exit status %d: %s", format, status, out)
		}
	}
}

func TestBadInputIsReportedOnOneLine(t *testing.T) {
	for name, tt := range map[string]struct {
		args        []string
		stdin, want string
		status      int
	}{
		"a file that is not there": {args: []string{"lint", "nope.yaml"}, want: "error: stat nope.yaml: no such file or directory", status: exitFailed},
		"no YAML":                  {args: []string{"lint", "-"}, stdin: "{{- if .Values.x }}\na: b\n", want: "stdin:1:1: error: yaml: ", status: exitFailed},
		"an anchor with itself":    {args: []string{"lint", "-"}, stdin: "x: &x {y: *x}\n", want: "stdin:1:1: error: yaml: anchor 'x' value contains itself", status: exitFailed},
		"half a file":              {args: []string{"lint", "-"}, stdin: "kind: [", want: "stdin:1:1: error: yaml: line 1: did not find expected node content", status: exitFailed},
		"no such format":           {args: []string{"lint", "-o", "xml", "-"}, want: `error: invalid argument "xml" for "-o, --output" flag: use text, json, yaml or sarif`, status: exitFailed},
		"no such key":              {args: []string{"lint", "--annotation", "a b", "-"}, want: `error: annotation key "a b" must have`, status: exitFailed},
		"a bad pattern":            {args: []string{"match", "(", "--nodes", "-"}, want: "error: annotation " + key + ": missing closing ): \"(\"", status: exitMistakes},
		"no names":                 {args: []string{"match", "x", "--nodes", "-"}, stdin: "NAME   STATUS\n", want: `error: -:1: not the name of a node`, status: exitFailed},
		"no kubeconfig":            {args: []string{"match", "x", "--kubeconfig", "nope"}, want: "error: ", status: exitFailed},
		"no such command":          {args: []string{"lnit"}, want: `error: unknown command "lnit"`, status: exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, stderr := run(t, tt.stdin, tt.args...)
			if status != tt.status || !strings.HasPrefix(out+stderr, tt.want) || strings.Count(out, "\n") > 1 {
				t.Errorf("exit status %d: %s%s, want %d: %s", status, out, stderr, tt.status, tt.want)
			}
		})
	}
}

// One bad file is a finding, and hides no other.
func TestFilesThatCannotBeReadAreFindings(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "bad.yaml", pod(key+": '('"))
	write(t, folder, "chart/templates/web.yaml", "a: 1\n{{- if x }}\n")
	write(t, folder, "skipped/bad.yaml", pod(key+": '('"))
	link := filepath.Join(t.TempDir(), "link")
	testkit.Must(t, errors.Join(os.Symlink("missing", filepath.Join(folder, "dangling.yaml")), os.Symlink(folder, link),
		syscall.Mkfifo(filepath.Join(folder, "fifo.yaml"), 0o600)))
	wantRun(t, "", []string{"lint", "--exclude", "skipped", link}, exitFailed, 3,
		"bad.yaml:5:54: error: Pod p:", "dangling.yaml:1:1: error: stat ", "web.yaml:2:1: error: yaml: line 2: ")
	wantRun(t, "", []string{"lint", "--exclude", "skipped", "--exclude", "chart", "--exclude", "dang*", link}, exitMistakes, 1)
	_, stderr := wantRun(t, "", []string{"lint", "--exclude", "[", folder}, exitFailed, 0)
	testkit.Has(t, stderr, "--exclude [: syntax error in pattern")
}

func TestDocumentsAfterABrokenOneAreLinted(t *testing.T) {
	text := pod(key+": '('") + "---\na: 1\n{{- if x }}\n--- # the third\n" + pod(key+": ')'") + "---\nb: [\n"
	_, stderr := wantRun(t, text, []string{"lint", "-"}, exitFailed, 4,
		"stdin:5:54: error: Pod p: ", "stdin:8:1: error: yaml: line 8: ", "stdin:14:54: error: Pod p: ", "stdin:16:1: error: yaml: line 16: ")
	testkit.Equal(t, stderr, "2 patterns, 4 findings\n", "standard error")
}

func TestMisplacedPatternIsCheckedToo(t *testing.T) {
	wantRun(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {annotations: {"+key+": '('}}\n", []string{"lint", "-"}, exitMistakes, 2,
		"(invalid-pattern)", "move it to spec.template.metadata.annotations (misplaced)")
}

// aCluster is a list of pods in one line. The last pod has a bad pattern.
func aCluster(pods int) string {
	var b strings.Builder
	b.WriteString(`{"apiVersion": "v1", "kind": "List", "items": [`)
	for i := range pods {
		pattern := "kubecon-.*"
		if i == pods-1 {
			pattern = "("
		}
		fmt.Fprintf(&b, `{"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": {%q: %q}, "name": "web-%d", "namespace": "shop", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "web", "image": "registry.example/web:1", "env": [%s{"name": "LAST", "value": "x"}]}], "nodeName": "kubecon-1"}}, `,
			key, pattern, i, strings.Repeat(`{"name": "A", "value": "b"}, `, 20))
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), ", ")+"]}", "\n", "")
}

// Reading was quadratic: 17 s for 2,000 pods would be seven minutes for these.
func TestLintOfAllPodsOfALargeCluster(t *testing.T) {
	_, stderr := wantRun(t, aCluster(10_000), []string{"lint", "-"}, exitMistakes, 1, ": error: Pod shop/web-9999: ")
	testkit.Equal(t, stderr, "10000 patterns, 1 finding\n", "standard error")
}

func TestLongPatternIsCutInTextAlone(t *testing.T) {
	long := "gpu-[01-10]" + strings.Repeat("x", 900) + "-end"
	file := filepath.Join(t.TempDir(), "pod.yaml")
	testkit.Must(t, os.WriteFile(file, []byte(pod(key+": '"+long+"'")), 0o600))
	_, out, _ := run(t, "", "lint", file)
	if strings.Contains(out, long) || !strings.Contains(out, ": gpu-[01-10]xxx") || !strings.Contains(out, "x…x") || !strings.Contains(out, "x-end (") {
		t.Errorf("in text: %s", out)
	}
	for _, format := range []string{"json", "sarif", "yaml"} {
		_, out, _ := run(t, "", "lint", "-o", format, file)
		if !strings.Contains(out, long) {
			t.Errorf("in %s: %s", format, out)
		}
	}
}

// A manifest or a file's name from a stranger forges no line, and does not control the terminal.
func TestFindingsArePrintable(t *testing.T) {
	file := testkit.TempFile(t, "a\x1b[2J\nb.yaml", strings.Replace(pod(key+": '('"), "name: p", `name: "p\e[2J\nforged"`, 1))
	status, out, errOut := run(t, "", "lint", file)
	want := "a[2J; b.yaml:5:54: error: Pod p[2J; forged: annotation " + key + ": missing closing ): \"(\" (invalid-pattern)\n"
	if status != exitMistakes || !strings.HasSuffix(out, want) || strings.Contains(out+errOut, "\x1b") {
		t.Errorf("status %d: %q%q", status, out, errOut)
	}
}
