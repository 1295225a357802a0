package stages

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func withTimeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

// network is a Cluster of one network.
type network struct{}

func (network) NodeIP() string { return "10.0.0.1" }

func (network) NodeIPs(node string) []string { return []string{node + "-4", node + "-6"} }

func (network) PodIPs(pod metav1.Object, node string, hostNetwork bool) ([]string, error) {
	if hostNetwork {
		return []string{"host"}, nil
	}
	if node == "full" {
		return nil, errors.New("all addresses are taken")
	}
	return []string{pod.GetName() + "-on-" + node}, nil
}

// patched is what the patch of a stage of one step comes to.
func patched(t *testing.T, object, patch string) (*Patch, string, error) {
	t.Helper()
	o := a(t, object)
	set := read(t, stageOf(of(o).APIVersion, of(o).Kind, anything+"  steps:\n  - patch:\n      "+strings.ReplaceAll(patch, "\n", "\n      ")))
	p := set.Of(of(o))[0].Steps[0].Patch
	data, err := p.Data(o, network{})
	return p, string(data), err
}

func TestTemplates(t *testing.T) {
	for _, c := range [][3]string{ // object, template, JSON
		{aPod, "a: {{ .metadata.name | Quote }}", `{"a":"web"}`},
		{aPod, "a: {{ .spec.none | Quote }}", `{"a":"null"}`},
		{aPod, `a: {{ Quote "x\"y" }}`, `{"a":"x\"y"}`},
		{aPod, "a: {{ Quote 5 }}", `{"a":"5"}`},
		{aPod, "a: {{ with .spec.none }}x{{ else }}{{ default \"d\" .spec.none }}{{ end }}", `{"a":"d"}`},
		{aPod, "a:\n{{ YAML .metadata.labels 1 }}", `{"a":{"app":"web"}}`},
		{aPod, "{{ YAML .metadata.labels }}", `{"app":"web"}`},
		{aPod, "a: {{ len NodeConditions }}", `{"a":5}`},
		{aPod, "a: {{ NodeIP }}", `{"a":"10.0.0.1"}`},
		{aPod, "a: {{ NodeIPWith .spec.nodeName }}", `{"a":"n1-4"}`},
		{aPod, "a: {{ index (NodeIPsWith .spec.nodeName) 1 }}", `{"a":"n1-6"}`},
		{aPod, `a: {{ PodIPWith .spec.nodeName false "" "" "" }}`, `{"a":"web-on-n1"}`},
		{aPod, `a: {{ PodIPWith .spec.nodeName .spec.hostNetwork "" "" "" }}`, `{"a":"host"}`},
		{aPod, `a: {{ index (PodIPsWith "n2" false "" "" "") 0 }}`, `{"a":"web-on-n2"}`},
		{aPod, "a: {{ PodIP }}", `{"a":"web-on-"}`},
		{aNode, "a: {{ NodeName }}", `{"a":"n1"}`},
		{aNode, "{{ with NodePort }}a: {{ . }}{{ else }}b: 1{{ end }}", `{"b":1}`},
		{aThing, "a: {{ add .spec.size 1 }}", `{"a":4}`},
		{aThing, "\n\n  a: 1\n", `{"a":1}`},
	} {
		_, data, err := patched(t, c[0], "template: |\n  "+strings.ReplaceAll(c[1], "\n", "\n  "))
		if err != nil || data != c[2] {
			t.Errorf("%s: %s, %v, want %s", c[1], data, err, c[2])
		}
	}
}

func TestTimesAreThoseOfKWOK(t *testing.T) {
	_, data, err := patched(t, aPod, "template: '{{ Now }} {{ StartTime }} {{ Version }}'\nroot: all")
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(strings.Trim(data, `{"}`))
	for _, text := range []string{strings.TrimPrefix(fields[0], `all":"`), fields[1]} {
		if at, err := time.Parse(time.RFC3339Nano, text); err != nil || time.Since(at) > time.Hour {
			t.Errorf("%s: %v", text, err)
		}
	}
	if !strings.HasPrefix(fields[2], "v") {
		t.Errorf("version %s", fields[2])
	}
}

func TestPatches(t *testing.T) {
	for name, c := range map[string]struct {
		object, patch, want string
		kind                types.PatchType
	}{
		"of a pod":     {aPod, "template: 'a: 1'", `{"a":1}`, types.StrategicMergePatchType},
		"of a node":    {aNode, "template: 'a: 1'", `{"a":1}`, types.StrategicMergePatchType},
		"of others":    {aThing, "template: 'a: 1'", `{"a":1}`, types.MergePatchType},
		"merge":        {aPod, "type: merge\ntemplate: 'a: 1'", `{"a":1}`, types.MergePatchType},
		"of a root":    {aPod, "root: status\ntemplate: 'a: 1'", `{"status":{"a":1}}`, types.StrategicMergePatchType},
		"JSON":         {aPod, "type: json\ntemplate: '[{op: add, path: /a, value: 1}]'", `[{"op":"add","path":"/a","value":1}]`, types.JSONPatchType},
		"JSON in root": {aPod, "type: json\nroot: status\ntemplate: '[{op: remove, path: /a}]'", `[{"op":"remove","path":"/status/a"}]`, types.JSONPatchType},
	} {
		t.Run(name, func(t *testing.T) {
			p, data, err := patched(t, c.object, c.patch)
			if err != nil || data != c.want || p.Type != c.kind {
				t.Errorf("%s %s, %v, want %s %s", p.Type, data, err, c.kind, c.want)
			}
		})
	}
}

func TestWhatATemplateMakesOfAnObjectCanBeWrong(t *testing.T) {
	for _, c := range [][2]string{
		{"template: '[a'", "the template makes no YAML"},
		{"template: text", `the template makes no object with fields, but "text"`},
		{"template: '{{ if .none }}{{ end }}'", "the template makes no object with fields, but null"},
		{"type: json\ntemplate: 'a: b'", `the template makes no list of JSON patch operations, but {"a":"b"}`},
		{"template: '{{ .metadata.name.first }}'", "template: :1:12: executing"},
		{"template: '{{ index .spec.containers 5 }}'", "error calling index: index out of range: 5"},
		{"template: '{{ PodIPWith \"full\" false \"\" \"\" \"\" }}'", "all addresses are taken"},
	} {
		if _, data, err := patched(t, aPod, c[0]); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %s, %v, want %s", c[0], data, err, c[1])
		}
	}
}

func TestStepsAreThoseOfNext(t *testing.T) {
	set := read(t, stage(anything+`  next:
    delete: true
    event: {type: Normal, reason: R, message: M}
    finalizers: {remove: [{value: a}]}
    statusTemplate: 'a: 1'
    statusPatchAs: {username: me}`))
	steps := set.Of(Pods)[0].Steps
	if len(steps) != 4 || steps[0].Event == nil || steps[1].Finalizers == nil || steps[2].Patch == nil || !steps[3].Delete {
		t.Fatalf("steps %+v", steps)
	}
	p := steps[2].Patch
	if data, err := p.Data(a(t, aPod), network{}); p.As != "me" || p.Subresource != "status" || string(data) != `{"status":{"a":1}}` {
		t.Errorf("%+v: %s, %v", p, data, err)
	}
	patches := read(t, stage(anything+"  next: {statusSubresource: other, patches: [{template: 'a: 1'}, {template: 'b: 1'}]}")).Of(Pods)[0].Steps
	if len(patches) != 2 || patches[1].Patch == nil {
		t.Errorf("steps %+v", patches)
	}
}

func TestFinalizers(t *testing.T) {
	for _, c := range []struct {
		change    Finalizers
		old, want []string
	}{
		{Finalizers{Add: []string{"a"}}, nil, []string{"a"}},
		{Finalizers{Add: []string{"a", "b"}}, []string{"b", "c"}, []string{"b", "c", "a"}},
		{Finalizers{Remove: []string{"a", "x"}}, []string{"a", "b"}, []string{"b"}},
		{Finalizers{Remove: []string{"a"}}, []string{"a"}, []string{}},
		{Finalizers{Empty: true, Add: []string{"c"}}, []string{"a", "b"}, []string{"c"}},
	} {
		if got := c.change.Change(c.old); !slices.Equal(got, c.want) {
			t.Errorf("%+v of %s: %s, want %s", c.change, c.old, got, c.want)
		}
	}
}

// Templates are executed beside each other, and each knows its own object.
func TestTemplatesDoNotMixObjects(t *testing.T) {
	set := read(t, stage(anything+"  steps: [{patch: {template: 'a: {{ PodIP }}'}}]"))
	p := set.Of(Pods)[0].Steps[0].Patch
	done := make(chan error)
	for _, name := range []string{"one", "two", "three", "four"} {
		o := a(t, "{kind: Pod, metadata: {name: "+name+"}}")
		go func() {
			for range 200 {
				if data, err := p.Data(o, network{}); err != nil || string(data) != `{"a":"`+name+`-on-"}` {
					done <- errors.New(name + " has " + string(data))
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
