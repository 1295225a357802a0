package stages

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

var quantityType = cel.ObjectType("kubernetes.Quantity", traits.AdderType, traits.ComparerType, traits.DividerType,
	traits.MultiplierType, traits.NegatorType, traits.SubtractorType)

// quantity is an amount of a resource in CEL: it can be added, compared, and
// multiplied with numbers.
type quantity struct{ resource.Quantity }

func parseQuantity(text string) (quantity, error) {
	q, err := resource.ParseQuantity(text)
	return quantity{q}, err
}

func (q quantity) Type() ref.Type         { return quantityType }
func (q quantity) Value() any             { return &q.Quantity }
func (q quantity) IsZeroValue() bool      { return q.IsZero() }
func (q quantity) asDouble() types.Double { return types.Double(q.AsApproximateFloat64()) }

func (q quantity) ConvertToNative(to reflect.Type) (any, error) {
	if kind := to.Kind(); kind == reflect.Float32 || kind == reflect.Float64 {
		return reflect.ValueOf(q.AsApproximateFloat64()).Convert(to).Interface(), nil
	}
	return nil, fmt.Errorf("a quantity is no %v", to)
}

func (q quantity) ConvertToType(to ref.Type) ref.Val {
	switch to {
	case types.DoubleType:
		return q.asDouble()
	case types.StringType:
		return types.String(q.String())
	case types.TypeType:
		return quantityType
	}
	return types.NewErr("a quantity is no %s", to)
}

// with does something with another quantity.
func (q quantity) with(other ref.Val, do func(a resource.Quantity, b resource.Quantity) ref.Val) ref.Val {
	b, ok := other.(quantity)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return do(q.DeepCopy(), b.Quantity)
}

func (q quantity) Equal(other ref.Val) ref.Val {
	return q.with(other, func(a, b resource.Quantity) ref.Val { return types.Bool(a.Equal(b)) })
}

func (q quantity) Compare(other ref.Val) ref.Val {
	return q.with(other, func(a, b resource.Quantity) ref.Val { return types.Int(a.Cmp(b)) })
}

func (q quantity) Add(other ref.Val) ref.Val {
	return q.with(other, func(a, b resource.Quantity) ref.Val { a.Add(b); return quantity{a} })
}

func (q quantity) Subtract(other ref.Val) ref.Val {
	return q.with(other, func(a, b resource.Quantity) ref.Val { a.Sub(b); return quantity{a} })
}

func (q quantity) Negate() ref.Val {
	negative := q.DeepCopy()
	negative.Neg()
	return quantity{negative}
}

func (q quantity) Multiply(by ref.Val) ref.Val { return q.scaled(by, types.Double.Multiply) }

func (q quantity) Divide(by ref.Val) ref.Val {
	if by.Equal(types.IntZero) == types.True {
		return types.NewErr("division by zero")
	}
	return q.scaled(by, types.Double.Divide)
}

// scaled counts in thousandths.
func (q quantity) scaled(by ref.Val, scale func(types.Double, ref.Val) ref.Val) ref.Val {
	factor, ok := by.ConvertToType(types.DoubleType).(types.Double)
	if _, text := by.(types.String); text || !ok {
		return types.MaybeNoSuchOverloadErr(by)
	}
	result := scale(q.asDouble(), factor).(types.Double)
	return quantity{*resource.NewMilliQuantity(int64(result*1000), resource.DecimalSI)}
}

var resourcesType = cel.ObjectType("kubernetes.ResourceList", traits.ContainerType, traits.IndexerType, traits.SizerType)

// resources are those that something has or asks for. Of one that is not named
// there is nothing.
type resources struct{ list v1.ResourceList }

func (r resources) Type() ref.Type    { return resourcesType }
func (r resources) Value() any        { return r.list }
func (r resources) IsZeroValue() bool { return len(r.list) == 0 }
func (r resources) Size() ref.Val     { return types.Int(len(r.list)) }

func (r resources) ConvertToNative(to reflect.Type) (any, error) {
	return nil, fmt.Errorf("a list of resources is no %v", to)
}

func (r resources) ConvertToType(to ref.Type) ref.Val {
	return types.NewErr("a list of resources is no %s", to)
}

func (r resources) Equal(other ref.Val) ref.Val {
	o, ok := other.(resources)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	for name, is := range r.list {
		if also, ok := o.list[name]; !ok || !is.Equal(also) {
			return types.False
		}
	}
	return types.Bool(len(r.list) == len(o.list))
}

func (r resources) Contains(name ref.Val) ref.Val {
	text, ok := name.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(name)
	}
	_, found := r.list[v1.ResourceName(text)]
	return types.Bool(found)
}

func (r resources) Get(name ref.Val) ref.Val {
	text, ok := name.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(name)
	}
	return quantity{r.list[v1.ResourceName(text)]}
}
