package stages

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// Ref names a kind of objects, as in an object itself.
type Ref struct{ APIVersion, Kind string }

// Kinds that something else looks after where there are no stages of them. Of the
// first two stages know the Go types.
var (
	Pods    = Ref{"v1", "Pod"}
	Nodes   = Ref{"v1", "Node"}
	Claims  = Ref{"v1", "PersistentVolumeClaim"}
	Volumes = Ref{"v1", "PersistentVolume"}
)

func (r Ref) String() string { return r.Kind + " (" + r.APIVersion + ")" }

// Stage is a stage that objects can be in.
type Stage struct {
	Name string
	// Where is the file and the line where it begins.
	Where string
	// Steps are done one after the other.
	Steps []Step
	// ImmediateNextStage asks for the next stage without waiting for the API server
	// to tell of what this one has done.
	ImmediateNextStage bool

	never       bool // without a selector
	labels      labels.Selector
	annotations labels.Selector
	jq          []*requirement
	cel         []*program
	weight      value
	delay       *value // nil: none
	jitter      *value // nil: none
}

func (s *Stage) matches(ctx context.Context, o *Object) (bool, error) {
	if s.never || !s.labels.Matches(labels.Set(o.GetLabels())) || !s.annotations.Matches(labels.Set(o.GetAnnotations())) {
		return false, nil
	}
	for _, requirement := range s.jq {
		if ok, err := requirement.matches(ctx, o); err != nil || !ok {
			return false, err
		}
	}
	for _, program := range s.cel {
		if ok, err := program.matches(ctx, o); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// Dice are for weights and jitter.
type Dice interface {
	// Int64N is a number from 0 to below n.
	Int64N(n int64) int64
}

// Wait is how long after now the stage is played for an object. KWOK plays at once
// where that cannot be told: so does who gets an error.
func (s *Stage) Wait(ctx context.Context, o *Object, now time.Time, dice Dice) (time.Duration, error) {
	if s.delay == nil {
		return 0, nil
	}
	least, ok, err := s.delay.duration(ctx, o, now)
	if err != nil || !ok || s.jitter == nil {
		return least, err
	}
	most, ok, err := s.jitter.duration(ctx, o, now)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return least, nil
	case most <= least:
		return most, nil
	}
	return least + time.Duration(dice.Int64N(int64(most-least))), nil
}

// Lifecycle are the stages of a kind.
type Lifecycle []*Stage

// Next is the stage that comes next for an object, or nil.
func (l Lifecycle) Next(ctx context.Context, o *Object, dice Dice) (*Stage, error) {
	matching, err := l.matching(ctx, o)
	if err != nil || len(matching) == 0 {
		return nil, err
	}
	if len(matching) == 1 {
		return matching[0], nil // whatever its weight
	}
	return draw(ctx, matching, o, dice)
}

func (l Lifecycle) matching(ctx context.Context, o *Object) (Lifecycle, error) {
	var matching Lifecycle
	for _, s := range l {
		ok, err := s.matches(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("stage %s: selector: %w", s.Name, err)
		}
		if ok {
			matching = append(matching, s)
		}
	}
	return matching, nil
}

// draw picks one of several stages by their weights. Where these come to nothing,
// all that have one are alike, or all if none has.
func draw(ctx context.Context, among Lifecycle, o *Object, dice Dice) (*Stage, error) {
	var total int64
	weights := make([]int64, len(among))
	var weighed Lifecycle
	for i, s := range among {
		weight, ok, err := s.weight.number(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("stage %s: weight: %w", s.Name, err)
		}
		if !ok {
			continue
		}
		weighed = append(weighed, s)
		weights[i] = max(weight, 0)
		total += weights[i]
	}
	if total == 0 {
		if len(weighed) == 0 {
			weighed = among
		}
		return weighed[dice.Int64N(int64(len(weighed)))], nil
	}
	at := dice.Int64N(total)
	for i, s := range among {
		if at -= weights[i]; at < 0 {
			return s, nil
		}
	}
	panic("the weights are less than their sum")
}
