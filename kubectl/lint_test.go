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
			if status != want {
				t.Errorf("exit status %d, want %d: %s", status, want, stderr)
			}
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
		status, out, stderr := run(t, manifest, "lint", "-")
		if status != exitMistakes || strings.Count(out, lint.Invalid) != 1 || strings.Count(out, "\n") != 1 {
			t.Errorf("%s: exit status %d: %s%s\n%s", kind, status, out, stderr, manifest)
		}
	}
}

func TestLintReadsFoldersAndWarnsOfNodesThatAreNotThere(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(folder, name)
		testkit.Must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		testkit.Must(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	write("sub/a.yaml", pod(key+": '^gpu-'"))
	write("b.json", `{"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": {"`+key+`": "kubecon"}}}`)
	write("notes.txt", pod(key+": '('"))
	nodes := write("nodes", "node/kubecon-1\n\nkubecon-2\n")
	status, out, stderr := run(t, "", "lint", folder, "--nodes", nodes)
	if status != 0 || strings.Count(out, "\n") != 1 || !strings.Contains(out, "sub/a.yaml:5:54: warning: Pod p: annotation "+key+": matches none of 2 nodes: ^gpu- (no-node)") {
		t.Errorf("exit status %d: %s", status, out)
	}
	if stderr != "2 patterns, 1 finding\n" {
		t.Errorf("said %q", stderr)
	}
	status, _, _ = run(t, "", "lint", folder, "--nodes", nodes, "--strict")
	if status != exitMistakes {
		t.Errorf("exit status %d with --strict", status)
	}
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
	for name, text := range map[string]string{
		"bad.yaml": pod(key + ": '('"), "chart/templates/web.yaml": "a: 1\n{{- if x }}\n", "skipped/bad.yaml": pod(key + ": '('"),
	} {
		file := filepath.Join(folder, name)
		testkit.Must(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)))
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Symlink("missing", filepath.Join(folder, "dangling.yaml")), os.Symlink(folder, link),
		syscall.Mkfifo(filepath.Join(folder, "fifo.yaml"), 0o600)); err != nil {
		t.Fatal(err)
	}
	status, out, stderr := run(t, "", "lint", "--exclude", "skipped", link)
	testkit.Has(t, out, "bad.yaml:5:54: error: Pod p:", "dangling.yaml:1:1: error: stat ", "web.yaml:2:1: error: yaml: line 2: ")
	if status != exitFailed || strings.Count(out, "\n") != 3 {
		t.Errorf("exit status %d\n%s%s", status, out, stderr)
	}
	status, out, _ = run(t, "", "lint", "--exclude", "skipped", "--exclude", "chart", "--exclude", "dang*", link)
	if status != exitMistakes {
		t.Errorf("without the others: exit status %d\n%s", status, out)
	}
	status, _, stderr = run(t, "", "lint", "--exclude", "[", folder)
	if status != exitFailed || !strings.Contains(stderr, "--exclude [: syntax error in pattern") {
		t.Errorf("a bad glob: exit status %d: %s", status, stderr)
	}
}

func TestDocumentsAfterABrokenOneAreLinted(t *testing.T) {
	text := pod(key+": '('") + "---\na: 1\n{{- if x }}\n--- # the third\n" + pod(key+": ')'") + "---\nb: [\n"
	status, out, stderr := run(t, text, "lint", "-")
	testkit.Has(t, out, "stdin:5:54: error: Pod p: ", "stdin:8:1: error: yaml: line 8: ", "stdin:14:54: error: Pod p: ", "stdin:16:1: error: yaml: line 16: ")
	if status != exitFailed || strings.Count(out, "\n") != 4 || stderr != "2 patterns, 4 findings\n" {
		t.Errorf("exit status %d\n%s%s", status, out, stderr)
	}
}

func TestMisplacedPatternIsCheckedToo(t *testing.T) {
	status, out, _ := run(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {annotations: {"+key+": '('}}\n", "lint", "-")
	if status != exitMistakes || !strings.Contains(out, "(invalid-pattern)") || !strings.Contains(out, "move it to spec.template.metadata.annotations (misplaced)") {
		t.Errorf("exit status %d: %s", status, out)
	}
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
	status, out, stderr := run(t, aCluster(10_000), "lint", "-")
	if status != exitMistakes || strings.Count(out, "\n") != 1 || !strings.Contains(out, ": error: Pod shop/web-9999: ") || stderr != "10000 patterns, 1 finding\n" {
		t.Errorf("exit status %d: %s%s", status, out, stderr)
	}
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
	file := filepath.Join(t.TempDir(), "a\x1b[2J\nb.yaml")
	testkit.Must(t, os.WriteFile(file, []byte(strings.Replace(pod(key+": '('"), "name: p", `name: "p\e[2J\nforged"`, 1)), 0o600))
	status, out, errOut := run(t, "", "lint", file)
	want := "a[2J; b.yaml:5:54: error: Pod p[2J; forged: annotation " + key + ": missing closing ): \"(\" (invalid-pattern)\n"
	if status != exitMistakes || !strings.HasSuffix(out, want) || strings.Contains(out+errOut, "\x1b") {
		t.Errorf("status %d: %q%q", status, out, errOut)
	}
}
