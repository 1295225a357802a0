package stages

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/wzshiming/easycel"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// program is a CEL expression. The object is self in it.
type program struct{ cel.Program }

// compiling guards easycel, which keeps in plain maps what it learns of types.
var compiling sync.Mutex

// compileProgram compiles an expression about objects of a kind, whose result must
// be of one of some types.
func compileProgram(of Ref, source string, results ...*cel.Type) (*program, error) {
	if source == "" {
		return nil, errors.New("is missing: write what is to be evaluated")
	}
	compiling.Lock()
	defer compiling.Unlock()
	env, err := of.environment()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(source)
	if issues.Err() != nil {
		return nil, fmt.Errorf("no CEL: %w", issues.Err())
	}
	// A comparison of quantities is an int to easycel, and a bool when it is done.
	if result := ast.OutputType(); !slices.ContainsFunc(append(results, cel.DynType, cel.IntType), result.IsExactType) {
		return nil, fmt.Errorf("has a %s as its result, but must have %s", result, oneOf(results))
	}
	compiled, err := env.Program(ast)
	if err != nil {
		return nil, fmt.Errorf("no CEL: %w", err)
	}
	return &program{compiled}, nil
}

func oneOf(all []*cel.Type) string {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.String()
	}
	return strings.Join(names, " or ")
}

func (p *program) eval(ctx context.Context, o *Object) (ref.Val, error) {
	result, _, err := p.ContextEval(ctx, map[string]any{"self": o.forCEL()})
	if err != nil {
		return nil, fmt.Errorf("cel: %w", err)
	}
	return result, nil
}

func (p *program) matches(ctx context.Context, o *Object) (bool, error) {
	result, err := p.eval(ctx, o)
	if err != nil {
		return false, err
	}
	is, ok := result.(types.Bool)
	if !ok {
		return false, fmt.Errorf("cel: the result is a %s, but must be a bool", result.Type().TypeName())
	}
	return bool(is), nil
}

var (
	podEnvironment   = sync.OnceValues(func() (*cel.Env, error) { return newEnvironment((*v1.Pod)(nil)) })
	nodeEnvironment  = sync.OnceValues(func() (*cel.Env, error) { return newEnvironment((*v1.Node)(nil)) })
	otherEnvironment = sync.OnceValues(func() (*cel.Env, error) { return newEnvironment(map[string]any{}) })
)

// environment is for objects of the kind: for other ones than pods and nodes, self
// is whatever it is.
func (r Ref) environment() (*cel.Env, error) {
	switch r {
	case Pods:
		return podEnvironment()
	case Nodes:
		return nodeEnvironment()
	}
	return otherEnvironment()
}

// newEnvironment has the types and functions of KWOK's.
func newEnvironment(self any) (*cel.Env, error) {
	r := easycel.NewRegistry("kwok", easycel.WithTagName("json"))
	errs := []error{r.RegisterVariable("self", self)}
	for _, convert := range []any{
		func(t metav1.Time) types.Timestamp { return types.Timestamp{Time: t.Time} },
		func(t *metav1.Time) types.Timestamp {
			if t == nil {
				return types.Timestamp{}
			}
			return types.Timestamp{Time: t.Time}
		},
		func(d metav1.Duration) types.Duration { return types.Duration{Duration: d.Duration} },
		func(q resource.Quantity) quantity { return quantity{q} },
		func(list v1.ResourceList) resources { return resources{list} },
	} {
		errs = append(errs, r.RegisterConversion(convert))
	}
	for _, t := range []any{
		v1.Node{},
		v1.NodeSpec{},
		v1.NodeStatus{},
		v1.Pod{},
		v1.PodSpec{},
		v1.PodStatus{},
		v1.Container{},
		v1.ResourceRequirements{},
		metav1.ObjectMeta{},
		quantity{},
		resources{},
	} {
		errs = append(errs, r.RegisterType(t))
	}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		for _, f := range functions[name] {
			errs = append(errs, r.RegisterFunction(name, f))
			if name != "Now" && name != "Rand" { // which have no receiver
				errs = append(errs, r.RegisterMethod(name, f))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return cel.NewEnv(cel.Lib(r))
}

var functions = map[string][]any{
	"Now":         {time.Now},
	"Rand":        {rand.Float64},
	"UnixSecond":  {func(t time.Time) float64 { return float64(t.UnixNano()) / float64(time.Second) }},
	"Quantity":    {parseQuantity},
	"SinceSecond": {func(n *v1.Node) float64 { return since(n) }, func(p *v1.Pod) float64 { return since(p) }},
}

func since(o metav1.Object) float64 { return time.Since(o.GetCreationTimestamp().Time).Seconds() }
