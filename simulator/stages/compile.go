package stages

import (
	"fmt"
	"math"
	"strings"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
