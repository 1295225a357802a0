package stages

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/itchyny/gojq"
)

// query is a jq expression.
type query struct{ code *gojq.Code }

func compileQuery(source string) (*query, error) {
	parsed, err := gojq.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("no jq: %w", err)
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		return nil, fmt.Errorf("no jq: %w", err)
	}
	return &query{code}, nil
}

// run returns what an expression finds, without nulls. One that fails finds
// nothing: it is asked of objects that do not have the field.
func (q *query) run(ctx context.Context, o *Object) ([]any, error) {
	data, err := o.forJQ()
	if err != nil {
		return nil, err
	}
	var found []any
	for values := q.code.RunWithContext(ctx, data); ; {
		value, more := values.Next()
		if _, failed := value.(error); failed {
			return nil, ctx.Err()
		}
		if !more {
			return found, nil
		}
		if value != nil {
			found = append(found, value)
		}
	}
}

// Operators of a requirement.
const (
	opIn           = "In"
	opNotIn        = "NotIn"
	opExists       = "Exists"
	opDoesNotExist = "DoesNotExist"
)

var operators = []string{opIn, opNotIn, opExists, opDoesNotExist}

// requirement is on what a jq expression finds.
type requirement struct {
	query    *query
	operator string
	values   []string
}

func (r *requirement) matches(ctx context.Context, o *Object) (bool, error) {
	found, err := r.query.run(ctx, o)
	if err != nil {
		return false, err
	}
	switch r.operator {
	case opIn:
		return r.has(found), nil
	case opNotIn:
		return !r.has(found), nil
	case opExists:
		return len(found) > 0, nil
	}
	return len(found) == 0, nil
}

// has knows text, true and false, and numbers that jq counted. The object's own
// numbers are floats to KWOK, and equal to none.
func (r *requirement) has(found []any) bool {
	return slices.ContainsFunc(found, func(value any) bool {
		switch value := value.(type) {
		case string:
			return slices.Contains(r.values, value)
		case bool:
			return slices.Contains(r.values, strconv.FormatBool(value))
		case int:
			return slices.Contains(r.values, strconv.Itoa(value))
		}
		return false
	})
}
