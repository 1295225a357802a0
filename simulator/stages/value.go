package stages

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// value is a number, or what an expression finds in the object.
type value struct {
	fixed   *int64 // also what counts if the expression finds nothing that fits
	query   *query
	program *program
}

// What CEL may come to where a duration is asked for, and where a weight is. A
// number is nanoseconds there.
var (
	durationTypes = []*cel.Type{cel.DurationType, cel.StringType, cel.IntType, cel.DoubleType, cel.UintType}
	weightTypes   = []*cel.Type{cel.IntType, cel.DoubleType, cel.UintType, cel.BoolType, cel.DurationType}
)

// number is the value as a number, or not ok if there is none.
func (v *value) number(ctx context.Context, o *Object) (n int64, ok bool, err error) {
	if v.program != nil {
		result, err := v.program.eval(ctx, o)
		if err != nil {
			return 0, false, err
		}
		n, err := asNumber(result)
		return n, err == nil, err
	}
	found, err := v.find(ctx, o)
	if err != nil {
		return 0, false, err
	}
	switch found := found.(type) {
	case string:
		n, err := strconv.ParseInt(found, 0, 0)
		return n, err == nil, nil
	case float64:
		return int64(found), true, nil
	}
	return v.otherwise()
}

// duration is the value as a time from now, or not ok if there is none.
func (v *value) duration(ctx context.Context, o *Object, now time.Time) (d time.Duration, ok bool, err error) {
	if v.program != nil {
		result, err := v.program.eval(ctx, o)
		if err != nil {
			return 0, false, err
		}
		d, err := asDuration(result)
		return d, err == nil, err
	}
	found, err := v.find(ctx, o)
	if err != nil {
		return 0, false, err
	}
	if text, is := found.(string); is {
		if text == "" {
			return 0, false, nil
		}
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return at.Sub(now), true, nil
		}
		if d, err := time.ParseDuration(text); err == nil {
			return d, true, nil
		}
	}
	n, ok, err := v.otherwise()
	return time.Duration(n), ok, err
}

// find is the first of what the jq expression finds, or nil.
func (v *value) find(ctx context.Context, o *Object) (any, error) {
	if v.query == nil {
		return nil, nil
	}
	found, err := v.query.run(ctx, o)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

func (v *value) otherwise() (int64, bool, error) {
	if v.fixed == nil {
		return 0, false, nil
	}
	return *v.fixed, true, nil
}

func asNumber(v ref.Val) (int64, error) {
	switch v := v.(type) {
	case types.Bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case types.Duration:
		return int64(v.Duration), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		return int64(v), nil
	case types.Double:
		return int64(v), nil
	}
	return 0, fmt.Errorf("cel: the result is a %s, but must be %s", v.Type().TypeName(), oneOf(weightTypes))
}

func asDuration(v ref.Val) (time.Duration, error) {
	switch v := v.(type) {
	case types.String:
		return time.ParseDuration(string(v))
	case types.Bool:
	default:
		if n, err := asNumber(v); err == nil {
			return time.Duration(n), nil
		}
	}
	return 0, fmt.Errorf("cel: the result is a %s, but must be %s", v.Type().TypeName(), oneOf(durationTypes))
}
