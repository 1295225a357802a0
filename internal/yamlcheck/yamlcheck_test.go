package yamlcheck

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulerv1 "k8s.io/kube-scheduler/config/v1"
	"sigs.k8s.io/yaml"
)

var (
	pod           = reflect.TypeFor[v1.Pod]()
	configuration = reflect.TypeFor[schedulerv1.KubeSchedulerConfiguration]()
)

func check(text string, as reflect.Type) Problems {
	return Parse([]byte(text)).Check(reflect.New(as).Interface())
}

// listed writes problems as they are expected: a line for each.
func listed(problems Problems) string {
	var all []string
	for _, p := range problems {
		all = append(all, fmt.Sprintf("%d %s: %s", p.Line, p.Field, p.Message))
	}
	return strings.Join(all, "\n")
}

func TestEveryMistakeIsReportedWithItsLine(t *testing.T) {
	for _, tt := range []struct {
		name string
		as   reflect.Type
		text string
		want string
	}{
		{
			"misspelt fields", configuration, "profiles:\n- schedulername: a\n  plugin: {}\nextender: []\n",
			`2 profiles[0].schedulername: unknown field: do you mean "schedulerName"?
3 profiles[0].plugin: unknown field: do you mean "plugins"?
4 extender: unknown field: do you mean "extenders"?`,
		},
		{
			"a name that is no list item", configuration, "profiles:\n- plugins:\n    multiPoint:\n      enabled:\n      - A\n",
			`5 profiles[0].plugins.multiPoint.enabled[0]: expected an object, found a string`,
		},
		{
			"a list where an object must stand", configuration, "profiles:\n- plugins:\n  - name: a\n",
			`2 profiles[0].plugins: expected an object, found a list`,
		},
		{"a fraction", configuration, "parallelism: 1.5\n", "1 parallelism: expected a whole number, found a number 1.5"},
		{"no duration", configuration, "extenders:\n- httpTimeout: soon\n", "2 extenders[0].httpTimeout: expected a duration such as 1m30s, found a string: invalid duration \"soon\""},

		{"a pattern that YAML takes for a number", pod, "metadata:\n  annotations:\n    r: 12\n", "3 metadata.annotations.r: expected a string, found a number: put it in quotes"},
		{"a label that YAML takes for a truth", pod, "metadata:\n  labels:\n    ssd: yes\n", "3 metadata.labels.ssd: expected a string, found a boolean: put it in quotes"},
		{
			"quantities", pod, "spec:\n  containers:\n  - resources:\n      requests:\n        cpu: lots\n        memory: 1 Gi\n        pods: 0.5\n",
			`5 spec.containers[0].resources.requests.cpu: expected a quantity such as 500m or 1Gi, found a string
6 spec.containers[0].resources.requests.memory: expected a quantity such as 500m or 1Gi, found a string`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := listed(check(tt.text, tt.as))
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestValidTextHasNoMistake(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":          "",
		"no YAML":          "a: [",
		"null":             "metadata:\n  creationTimestamp: null\nspec:\n",
		"quoted numbers":   "metadata:\n  annotations: {a: '1', b: \"true\", c: !!str 3, d: 2024-01-01, e: |\n    text\n  }\n",
		"JSON":             `{"metadata": {"name": "a", "labels": {"a": "1"}}, "spec": {"terminationGracePeriodSeconds": 30, "hostNetwork": true}}`,
		"quantities":       "spec:\n  overhead: {cpu: 1, memory: 0.5Gi, x: \"2\", y: 1e3, z: 100m}\n",
		"numbers or names": "spec:\n  containers:\n  - livenessProbe: {httpGet: {port: http}}\n  - livenessProbe: {httpGet: {port: 80}}\n",
		"references":       "metadata:\n  labels: &l {a: b}\n  annotations: *l\n",
		"merged":           "spec:\n  containers:\n  - &one {name: a}\n  - {<<: *one, image: b}\n",
		"times":            "metadata:\n  creationTimestamp: 2026-01-02T03:04:05Z\n  managedFields:\n  - fieldsV1: {f:a: {}}\n",
		"a whole number":   "spec:\n  priority: 1.0\n",
	} {
		t.Run(name, func(t *testing.T) {
			got := listed(check(text, pod))
			if got != "" {
				t.Error(got)
			}
		})
	}
}

func TestKeyThatIsNotTextIsReported(t *testing.T) {
	got := Parse([]byte("metadata:\n  name: {{.Name}}\n")).Keys()
	want := "2 metadata.name: the name of a field must be text"
	if listed(got) != want {
		t.Errorf("got  %s\nwant %s", listed(got), want)
	}
}

func TestDuplicateKeyIsReported(t *testing.T) {
	text := "a: 1\nb:\n  c: {}\n  c: {}\nlist:\n- x: 1\nlist:\n- x: 2\n  x: 3\n"
	want := `4 b.c: duplicate field "c": it is on line 3 already
7 list: duplicate field "list": it is on line 5 already
9 list[0].x: duplicate field "x": it is on line 8 already`
	got := Parse([]byte(text)).Keys()
	if listed(got) != want {
		t.Errorf("got\n%s\nwant\n%s", listed(got), want)
	}
}

// Nothing that a person can type makes it panic or print a line that is not there.
func FuzzCheck(f *testing.F) {
	f.Add([]byte("profiles:\n- schedulerName: a\nplugins: {}\n"))
	f.Add([]byte("a: &a [*a]\nspec: {containers: [{<<: 1}], overhead: {cpu: x}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var any any
		if yaml.Unmarshal(text, &any) != nil {
			t.Skip() // what no decoder takes is not checked either
		}
		lines := 1 + strings.Count(string(text), "\n") + strings.Count(string(text), "\r") + strings.Count(string(text), "\u2028") +
			strings.Count(string(text), "\u2029") + strings.Count(string(text), "\u0085")
		for _, as := range []reflect.Type{pod, configuration} {
			for _, p := range append(check(string(text), as), Parse(text).Keys()...) {
				if p.Line < 1 || p.Line > lines || p.Message == "" {
					t.Errorf("%+v in %q", p, text)
				}
			}
		}
	})
}
