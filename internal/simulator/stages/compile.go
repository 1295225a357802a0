package stages

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// compiler makes a stage of what stands in a file, and collects what is wrong.
type compiler struct {
	of     Ref
	wrong  func(field, message string)
	remark func(field, message string)
}

func (c *compiler) wrongf(field, format string, args ...any) {
	c.wrong(field, fmt.Sprintf(format, args...))
}

func (c *compiler) stage(f *file) *Stage {
	if f.Metadata.Name == "" {
		c.wrong("metadata.name", "is missing: warnings name the stage by it")
	}
	if c.of.Kind == "" {
		c.wrong("spec.resourceRef.kind", "is missing: write the kind of the objects that the stage is for, such as Pod")
	}
	if _, err := schema.ParseGroupVersion(c.of.APIVersion); err != nil {
		c.wrongf("spec.resourceRef.apiGroup", "%q is no group and version: write it as in apiVersion of the objects, such as v1 or batch/v1", c.of.APIVersion)
	}
	s := &Stage{Name: f.Metadata.Name, ImmediateNextStage: f.Spec.ImmediateNextStage}
	c.selector(s, f.Spec.Selector)
	c.weight(s, &f.Spec)
	c.delays(s, f.Spec.Delay)
	s.Steps = c.steps(&f.Spec)
	return s
}

func (c *compiler) selector(s *Stage, in *selector) {
	if in == nil {
		s.never = true
		c.remark("spec.selector", "is missing, and so the stage matches nothing, as in KWOK; write {} for all objects")
		return
	}
	s.labels, s.annotations = labels.SelectorFromSet(in.MatchLabels), labels.SelectorFromSet(in.MatchAnnotations)
	for _, problem := range validation.ValidateLabels(in.MatchLabels, field.NewPath("spec.selector.matchLabels")) {
		c.wrong("spec.selector.matchLabels", problem.ErrorBody())
	}
	for i, m := range in.MatchExpressions {
		c.matchExpression(s, m, fmt.Sprintf("spec.selector.matchExpressions[%d]", i))
	}
}

func (c *compiler) matchExpression(s *Stage, m matchExpression, at string) {
	old := m.Key != "" || m.Operator != "" || len(m.Values) > 0
	switch {
	case m.JQ != nil && m.CEL != nil:
		c.wrong(at, "has jq and cel, of which KWOK reads jq alone: make two of it, which must both be true")
	case old && (m.JQ != nil || m.CEL != nil):
		c.wrong(at, "has key, operator or values besides jq or cel, and KWOK does not read both: take one of the two away")
	case m.JQ != nil:
		c.requirement(s, *m.JQ, at+".jq.")
	case old:
		c.requirement(s, matchJQ{m.Key, m.Operator, m.Values}, at+".")
	case m.CEL != nil:
		program, err := compileProgram(c.of, m.CEL.Expression, cel.BoolType)
		if err != nil {
			c.wrong(at+".cel.expression", err.Error())
		}
		s.cel = append(s.cel, program)
	default:
		c.wrong(at, "is empty: write jq with a key and an operator, or cel with an expression")
	}
}

func (c *compiler) requirement(s *Stage, m matchJQ, at string) {
	if m.Key == "" {
		c.wrong(at+"key", "is missing: write a jq expression, such as .status.phase")
		return
	}
	query, err := compileQuery(m.Key)
	if err != nil {
		c.wrong(at+"key", err.Error())
	}
	switch m.Operator {
	case opIn, opNotIn:
		if len(m.Values) == 0 {
			c.wrongf(at+"values", "are missing, which %s compares with", m.Operator)
		}
	case opExists, opDoesNotExist:
		if len(m.Values) > 0 {
			c.wrongf(at+"values", "mean nothing to %s: take them away, or write In or NotIn", m.Operator)
		}
	default:
		c.wrong(at+"operator", unknown(m.Operator, operators))
	}
	s.jq = append(s.jq, &requirement{query, m.Operator, m.Values})
}

// unknown says what may stand where something else does.
func unknown(is string, may []string) string {
	switch meant := yamlcheck.Closest(is, may); {
	case is == "":
		return "is missing: it must be one of " + strings.Join(may, ", ")
	case meant != "":
		return fmt.Sprintf("is %q: do you mean %s?", is, meant)
	}
	return fmt.Sprintf("is %q, but must be one of %s", is, strings.Join(may, ", "))
}

func (c *compiler) weight(s *Stage, in *spec) {
	if in.Weight < 0 {
		c.wrong("spec.weight", "must not be negative")
	}
	s.weight = value{fixed: &in.Weight}
	c.from(&s.weight, in.WeightFrom, "spec.weightFrom", func(source string) (*program, error) {
		return compileProgram(c.of, source, weightTypes...)
	})
}

func (c *compiler) delays(s *Stage, in *delay) {
	if in == nil {
		return
	}
	if in.JitterDurationFrom != nil && in.JitterDurationFrom.CEL != nil {
		c.wrong("spec.delay.jitterDurationFrom.cel", "is not read by KWOK, which would go without jitter: write jq")
	}
	zero := int64(0)
	s.delay = c.duration(in.DurationMilliseconds, in.DurationFrom, "spec.delay.duration")
	if s.delay.fixed == nil {
		s.delay.fixed = &zero
	}
	if in.JitterDurationMilliseconds != nil || in.JitterDurationFrom != nil {
		s.jitter = c.duration(in.JitterDurationMilliseconds, in.JitterDurationFrom, "spec.delay.jitterDuration")
	}
}

func (c *compiler) duration(milliseconds *int64, from *expressionFrom, at string) *value {
	const nanosecondsEach = 1_000_000
	v := &value{}
	if milliseconds != nil {
		if *milliseconds < 0 || *milliseconds > math.MaxInt64/nanosecondsEach {
			c.wrong(at+"Milliseconds", "must be from 0 to 9,223,372,036,854, which is 292 years")
		}
		nanoseconds := *milliseconds * nanosecondsEach
		v.fixed = &nanoseconds
	}
	c.from(v, from, at+"From", func(source string) (*program, error) {
		return compileProgram(c.of, source, durationTypes...)
	})
	return v
}

// from compiles the expression that a value comes from, if it does.
func (c *compiler) from(v *value, in *expressionFrom, at string, compile func(string) (*program, error)) {
	if in == nil {
		return
	}
	source, name := in.ExpressionFrom, ".expressionFrom"
	if in.JQ != nil {
		source, name = in.JQ.Expression, ".jq.expression"
	}
	var err error
	switch {
	case in.CEL != nil && in.JQ != nil, in.ExpressionFrom != "" && (in.CEL != nil || in.JQ != nil):
		c.wrong(at, "has more than one of jq, cel and expressionFrom, of which KWOK reads one: take the others away")
	case in.CEL != nil:
		name = ".cel.expression"
		v.program, err = compile(in.CEL.Expression)
	case source == "":
		c.wrong(at, "is empty: write jq or cel with an expression, such as .metadata.deletionTimestamp")
	default:
		v.query, err = compileQuery(source)
	}
	if err != nil {
		c.wrong(at+name, err.Error())
	}
}

func (c *compiler) steps(in *spec) []Step {
	var all []Step
	steps, paths := in.Steps, make([]string, len(in.Steps))
	for i := range steps {
		paths[i] = fmt.Sprintf("spec.steps[%d]", i)
	}
	switch {
	case len(steps) > 0 && in.Next != nil:
		c.remark("spec.next", "is not read, as in KWOK, since there are steps")
	case in.Next != nil:
		steps, paths = c.next(in.Next)
	}
	if len(steps) == 0 {
		c.remark("spec.steps", "are missing, and so the stage does nothing, as in KWOK")
	}
	deleted := false
	for i := range steps {
		all = append(all, c.step(&steps[i], paths[i], deleted))
		deleted = deleted || steps[i].Delete
	}
	return all
}

// next makes steps of what there was before these, with the path of each.
func (c *compiler) next(n *next) (steps []step, paths []string) {
	add := func(path string, s step) { steps, paths = append(steps, s), append(paths, path) }
	if n.Event != nil {
		add("spec.next", step{Event: n.Event})
	}
	if n.Finalizers != nil {
		add("spec.next", step{Finalizers: n.Finalizers})
	}
	for i := range n.Patches {
		add(fmt.Sprintf("spec.next.patches[%d]", i), step{Patch: &n.Patches[i]})
	}
	switch {
	case n.StatusTemplate == "" && n.StatusPatchAs != nil:
		c.wrong("spec.next.statusPatchAs", "is about the statusTemplate, and there is none")
	case len(n.Patches) > 0 && n.StatusTemplate != "":
		c.wrong("spec.next.statusTemplate", "is not read by KWOK where there are patches: make it one of them, with root: status and subresource: status")
	case n.StatusTemplate != "":
		p := patch{Template: n.StatusTemplate, Root: "status", Subresource: "status", Impersonation: n.StatusPatchAs}
		if n.StatusSubresource != nil {
			p.Subresource = *n.StatusSubresource
		}
		add("spec.next.statusTemplate", step{Patch: &p})
	}
	if n.Delete {
		add("spec.next", step{Delete: true})
	}
	return steps, paths
}

// step compiles one step. After one that deletes, KWOK does nothing but send events.
func (c *compiler) step(in *step, at string, deleted bool) Step {
	out := Step{Delete: in.Delete}
	switch {
	case *in == (step{}):
		c.wrong(at, "is empty: write an event, finalizers, a patch, an apply or delete: true")
	case in.Delete && (in.Patch != nil || in.Apply != nil):
		c.wrong(at, "deletes the object, and so KWOK does not do the patch or apply: make a step before it of that")
	case deleted && (in.Patch != nil || in.Apply != nil || in.Finalizers != nil || in.Delete):
		c.wrong(at, "is not done by KWOK, since a step before it deletes the object: put it before that")
	}
	if in.Event != nil {
		out.Event = c.event(in.Event, at+".event")
	}
	if in.Finalizers != nil {
		out.Finalizers = c.finalizers(in.Finalizers, at+".finalizers")
	}
	if in.Patch != nil {
		if strings.HasPrefix(at, "spec.steps") {
			at += ".patch"
		}
		out.Patch = c.patch(in.Patch, at)
	}
	if in.Apply != nil {
		out.Apply = c.apply(in.Apply, at+".apply")
	}
	return out
}

func (c *compiler) event(in *event, at string) *Event {
	if may := []string{v1.EventTypeNormal, v1.EventTypeWarning}; !slices.Contains(may, in.Type) {
		c.wrong(at+".type", unknown(in.Type, may))
	}
	return &Event{in.Type, in.Reason, in.Message}
}

func (c *compiler) finalizers(in *finalizers, at string) *Finalizers {
	if len(in.Add)+len(in.Remove) == 0 && !in.Empty {
		c.wrong(at, "are empty: write add, remove or empty: true")
	}
	names := func(items []finalizer, at string) (all []string) {
		for i, item := range items {
			if item.Value == "" {
				c.wrongf(fmt.Sprintf("%s[%d]", at, i), "has no value: write the finalizer")
			}
			all = append(all, item.Value)
		}
		return all
	}
	return &Finalizers{Add: names(in.Add, at+".add"), Remove: names(in.Remove, at+".remove"), Empty: in.Empty}
}

// patchTypes are what patches may be, and appliesAs what an object that is there
// may be applied as. Without a type a patch is what the kind allows.
var (
	patchTypes = map[string]types.PatchType{
		"json": types.JSONPatchType, "merge": types.MergePatchType, "strategic": types.StrategicMergePatchType,
	}
	appliesAs = map[string]types.PatchType{
		"": types.ApplyPatchType, "apply": types.ApplyPatchType, "merge": types.MergePatchType, "strategic": types.StrategicMergePatchType,
	}
)

func (c *compiler) patch(in *patch, at string) *Patch {
	out := &Patch{Type: patchTypes[in.Type], Subresource: in.Subresource, root: in.Root, As: c.as(in.Impersonation, at)}
	gv, _ := schema.ParseGroupVersion(c.of.APIVersion)
	switch known := scheme.Scheme.Recognizes(gv.WithKind(c.of.Kind)); {
	case in.Type == "" && (c.of == Pods || c.of == Nodes):
		out.Type = types.StrategicMergePatchType
	case in.Type == "":
		out.Type = types.MergePatchType
	case out.Type == "":
		c.wrong(at+".type", unknown(in.Type, []string{"json", "merge", "strategic"}))
	case in.Type == "strategic" && !known:
		c.wrongf(at+".type", "is strategic, which there is for Kubernetes' own kinds alone, and not for %s: write merge", c.of)
	}
	out.text = c.template(in.Template, at)
	return out
}

func (c *compiler) apply(in *apply, at string) *Apply {
	kind, ok := appliesAs[in.Type]
	if !ok {
		c.wrong(at+".type", unknown(in.Type, []string{"apply", "merge", "strategic"}))
	}
	out := &Apply{Type: kind, Subresource: in.Subresource, As: c.as(in.Impersonation, at)}
	if in.Impersonation != nil && (c.of == Pods || c.of == Nodes) {
		c.wrongf(at+".impersonation", "is not read by KWOK in stages of %ss: take it away", c.of.Kind)
	}
	out.text = c.template(in.Template, at)
	return out
}

// template compiles the template of a patch at a path, which is that of the template
// where there is nothing but it.
func (c *compiler) template(source, at string) *text {
	if !strings.HasSuffix(at, "Template") {
		at += ".template"
	}
	if strings.TrimSpace(source) == "" {
		c.wrong(at, "is missing: write what is to be sent")
		return nil
	}
	compiled, err := compileText(c.of, source)
	if err != nil {
		c.wrong(at, err.Error())
	}
	return compiled
}

func (c *compiler) as(u *user, at string) string {
	if u == nil {
		return ""
	}
	if u.Username == "" {
		c.wrong(at+".impersonation.username", "is missing: write who is to send it")
	}
	return u.Username
}
