package player

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"wasmkwokwizardry.io/regex-scheduling/simulator/stages"
)

const (
	// evaluation bounds the expressions that are asked of one object. A jq
	// expression need not come to an end.
	evaluation = 2 * time.Second
	// retryAfter and retryAtMost bound the wait after a failure, each twice as long
	// as the one before. What a person has written wrong stays wrong.
	retryAfter  = time.Second
	retryAtMost = 5 * time.Minute
	// atOnce stages without a delay are played on one object, and then one each
	// while: more is a circle.
	atOnce = 30
	while  = 5 * time.Second
)

// Player plays the stages of one kind.
type Player struct {
	of        stages.Ref
	lifecycle stages.Lifecycle
	server    *Server
	resource  *resource
	cluster   stages.Cluster
	later     func(object any, wait time.Duration) // has an object handed to Play after a while
	warnings  *log.Logger
	dice      stages.Dice

	mu      sync.Mutex
	objects map[cache.ObjectName]*progress
}

// New makes a player of a kind that the API server serves. later has an object
// handed to Play again after a while.
func New(of stages.Ref, lifecycle stages.Lifecycle, server *Server, cluster stages.Cluster,
	later func(object any, wait time.Duration), warnings *log.Logger,
) (*Player, error) {
	resource, err := server.resolve(of)
	if err != nil {
		return nil, fmt.Errorf("%s: stage %s: spec.resourceRef: %w", lifecycle[0].Where, lifecycle[0].Name, err)
	}
	for _, stage := range lifecycle {
		for _, step := range stage.Steps {
			if p := step.Patch; p != nil && p.Subresource != "" && !slices.Contains(resource.subresources, p.Subresource) {
				return nil, fmt.Errorf("%s: stage %s: a patch is of the subresource %s, which the API server does not have of a %s: it has %v",
					stage.Where, stage.Name, p.Subresource, of, resource.subresources)
			}
		}
	}
	return &Player{
		of: of, lifecycle: lifecycle, server: server, resource: resource, cluster: cluster,
		later: later, warnings: warnings, dice: chance{}, objects: map[cache.ObjectName]*progress{},
	}, nil
}

// chance is true chance.
type chance struct{}

func (chance) Int64N(n int64) int64 { return rand.Int64N(n) }

// progress is how far an object is.
type progress struct {
	uid     types.UID
	seen    string        // the version that the stage was chosen for
	written string        // the newest version that we made
	stage   *stages.Stage // nil: nothing is to be done
	due     time.Time
	delayed bool // it was waited for
	step    int  // the one to be done next
	failed  int  // times in a row
	bounds  *rate.Limiter
	circles bool // and a person knows it
}

// progress is that of an object.
func (p *Player) progress(object metav1.Object) *progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := cache.MetaObjectToName(object)
	if known, ok := p.objects[name]; ok && known.uid == object.GetUID() {
		return known
	}
	now := &progress{uid: object.GetUID(), bounds: rate.NewLimiter(rate.Every(while), atOnce)}
	p.objects[name] = now
	return now
}

// Forget is told of objects that are gone.
func (p *Player) Forget(object any) {
	name, err := cache.DeletionHandlingObjectToName(object)
	if err != nil {
		panic(err) // informers hand out nothing but objects
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.objects, name)
}

// Play does what is to be done next for an object, which it does not change, or has
// it handed over again when the time has come. Nobody else may play the same object
// at the same time.
func (p *Player) Play(ctx context.Context, object metav1.Object) {
	at := p.progress(object)
	if older(object, at.written) {
		return // what we wrote is about to be seen
	}
	o := stages.NewObject(object)
	if at.seen != object.GetResourceVersion() {
		p.choose(ctx, at, o)
	}
	if at.stage == nil {
		return
	}
	if wait := p.wait(at, object); wait > 0 {
		p.later(object, wait)
		return
	}
	stage := at.stage
	written, err := p.perform(ctx, at, o)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		p.failure(at, object, err)
	case written != nil && stage.ImmediateNextStage:
		p.Play(ctx, written)
	}
}

// older reports that an object is older than a version of it, or has none of which
// that can be said.
func older(object metav1.Object, than string) bool {
	if than == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(object.GetResourceVersion(), than)
	return err == nil && order < 0
}

// choose decides which stage comes next for this version of an object, and when.
// It is not asked again unless the object changes: each time could end otherwise.
func (p *Player) choose(ctx context.Context, at *progress, o *stages.Object) {
	ctx, cancel := context.WithTimeout(ctx, evaluation)
	defer cancel()
	at.seen, at.stage, at.step, at.failed, at.delayed = o.GetResourceVersion(), nil, 0, 0, false
	stage, err := p.lifecycle.Next(ctx, o, p.dice)
	if err != nil {
		p.warn(o, "%v; it stays as it is until it changes", err)
		return
	}
	if stage == nil {
		return
	}
	now := time.Now()
	wait, err := stage.Wait(ctx, o, now, p.dice)
	if err != nil {
		p.warn(o, "stage %s: delay: %v; going on without a delay, as KWOK does", stage.Name, err)
	}
	at.stage, at.due, at.delayed = stage, now.Add(wait), wait > 0
}

// wait is how long it is until a stage can be played.
func (p *Player) wait(at *progress, object metav1.Object) time.Duration {
	now := time.Now()
	if wait := at.due.Sub(now); wait > 0 {
		return wait
	}
	if at.delayed || at.step > 0 || at.bounds.AllowN(now, 1) {
		return 0
	}
	if !at.circles {
		at.circles = true
		p.warn(object, "stage %s: %d stages were played without a delay, as in a circle; from now on one each %s: give them delays, or selectors that no longer match what they have changed",
			at.stage.Name, atOnce, while)
	}
	missing := time.Duration((1 - at.bounds.TokensAt(now)) * float64(while))
	return max(missing, time.Millisecond)
}

func (p *Player) failure(at *progress, object metav1.Object, err error) {
	wait := min(retryAfter<<min(at.failed, 10), retryAtMost)
	at.failed++
	at.due, at.delayed = time.Now().Add(wait), true
	p.warn(object, "stage %s: %v; trying again in %s", at.stage.Name, err, wait)
	p.later(object, wait)
}

// warn says something of an object.
func (p *Player) warn(object metav1.Object, format string, args ...any) {
	p.warnings.Printf("%s %s: %s", p.of.Kind, cache.MetaObjectToName(object), fmt.Sprintf(format, args...))
}
