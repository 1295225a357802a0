package stages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/version"
	"sigs.k8s.io/yaml"
)

// Cluster is what templates ask of the cluster.
type Cluster interface {
	// NodeIP is the address of nodes that have none of their own.
	NodeIP() string
	// NodeIPs are the addresses of a node: one, or one of each family.
	NodeIPs(node string) []string
	// PodIPs are the addresses of a pod on a node, or on any: the same ones for as
	// long as it has them, and no other pod's unless they are the node's.
	PodIPs(pod metav1.Object, node string, hostNetwork bool) ([]string, error)
}

// text is a template. Its functions know the object that it is executed for: each
// execution has a copy to itself.
type text struct {
	of    Ref
	first *template.Template
	pool  sync.Pool // of *execution
}

// execution is one at a time.
type execution struct {
	template *template.Template
	object   *Object
	cluster  Cluster
}

func compileText(of Ref, source string) (*text, error) {
	parsed, err := template.New("").Funcs((&execution{}).functions(of)).Parse(strings.TrimSpace(source))
	if err != nil {
		return nil, fmt.Errorf("no template: %s", strings.TrimPrefix(err.Error(), "template: "))
	}
	return &text{of: of, first: parsed}, nil
}

// execute returns the JSON of the YAML that the template makes of an object.
func (t *text) execute(o *Object, in Cluster) ([]byte, error) {
	e, err := t.execution()
	if err != nil {
		return nil, err
	}
	defer t.pool.Put(e)
	e.object, e.cluster = o, in
	data, err := o.forTemplates()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := e.template.Execute(&out, data); err != nil {
		return nil, fmt.Errorf("template: %s", strings.TrimPrefix(err.Error(), "template: "))
	}
	made, err := yaml.YAMLToJSON(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("the template makes no YAML: %w", err)
	}
	return made, nil
}

func (t *text) execution() (*execution, error) {
	if e, ok := t.pool.Get().(*execution); ok {
		return e, nil
	}
	own, err := t.first.Clone()
	if err != nil {
		return nil, err
	}
	e := &execution{template: own}
	own.Funcs(e.functions(t.of))
	return e, nil
}

// functions are those of KWOK: sprig's, its own, and those of the kind.
func (e *execution) functions(of Ref) template.FuncMap {
	all := sprig.TxtFuncMap()
	maps.Copy(all, common)
	switch of {
	case Nodes:
		maps.Copy(all, template.FuncMap{"NodeIP": e.nodeIP, "NodeName": e.name, "NodePort": func() int { return 0 }})
	case Pods:
		maps.Copy(all, template.FuncMap{
			"NodeIP":      e.nodeIP,
			"NodeIPWith":  func(node string) (string, error) { return first(e.cluster.NodeIPs(node), nil) },
			"NodeIPsWith": func(node string) []string { return e.cluster.NodeIPs(node) },
			"PodIP": func() (string, error) {
				return first(e.cluster.PodIPs(e.object.Object, "", false))
			},
			"PodIPWith": func(node string, hostNetwork bool, _, _, _ string) (string, error) {
				return first(e.cluster.PodIPs(e.object.Object, node, hostNetwork))
			},
			"PodIPsWith": func(node string, hostNetwork bool, _, _, _ string) ([]string, error) {
				return e.cluster.PodIPs(e.object.Object, node, hostNetwork)
			},
		})
	}
	return all
}

func (e *execution) nodeIP() string { return e.cluster.NodeIP() }

// name takes the place of the name under which KWOK's own server is reached.
func (e *execution) name() string { return e.object.GetName() }

func first(ips []string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	if len(ips) == 0 {
		return "", errors.New("there is no address")
	}
	return ips[0], nil
}

var began = time.Now().Format(time.RFC3339Nano)

// common are the functions for every kind.
var common = template.FuncMap{
	"Quote":          quote,
	"Now":            func() string { return time.Now().Format(time.RFC3339Nano) },
	"StartTime":      func() string { return began },
	"YAML":           toYAML,
	"Version":        func() string { return version.Get().GitVersion },
	"NodeConditions": nodeConditions,
}

func quote(value any) string {
	raw, err := json.Marshal(value)
	switch {
	case err != nil:
		return strconv.Quote(fmt.Sprint(value))
	case raw[0] == '"':
		return string(raw)
	}
	return strconv.Quote(string(raw))
}

// toYAML indents by two spaces a level, and then begins with a new line.
func toYAML(value any, indent ...int) (string, error) {
	raw, err := yaml.Marshal(value)
	if err != nil || len(indent) != 1 || indent[0] <= 0 {
		return string(raw), err
	}
	return strings.ReplaceAll("\n"+string(raw), "\n", "\n"+strings.Repeat("  ", indent[0])), nil
}

// nodeConditions are those of a node that is well.
func nodeConditions() []any {
	condition := func(kind v1.NodeConditionType, status v1.ConditionStatus, reason, message string) any {
		return map[string]any{
			"type": string(kind), "status": string(status), "reason": reason, "message": message,
			"lastHeartbeatTime": nil, "lastTransitionTime": nil,
		}
	}
	return []any{
		condition(v1.NodeReady, v1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
		condition(v1.NodeMemoryPressure, v1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		condition(v1.NodeDiskPressure, v1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		condition(v1.NodePIDPressure, v1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		condition(v1.NodeNetworkUnavailable, v1.ConditionFalse, "RouteCreated", "RouteController created a route"),
	}
}
