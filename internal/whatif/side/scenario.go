package side

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// Scenario is what happens after the pods of the file are scheduled, step by step.
type Scenario struct {
	Steps []Step `json:"steps"`
}

// Step is done in a cluster at rest: what it creates first, in the order of
// the file, then what it updates, and then what it deletes.
type Step struct {
	Name   string           `json:"name,omitempty"`   // the name of the step in messages
	Create []map[string]any `json:"create,omitempty"` // whole objects
	// Update are the fields of objects that are to be otherwise, as for kubectl
	// apply.
	Update []map[string]any `json:"update,omitempty"`
	Delete []map[string]any `json:"delete,omitempty"` // objects, by apiVersion, kind and metadata
}

// ReadScenario reads a scenario, and says all that is wrong with it.
func ReadScenario(text []byte) (*Scenario, error) {
	problems := yamlcheck.Parse(text).Check(&Scenario{})
	if len(problems) > 0 {
		return nil, fmt.Errorf("line %d: %w", problems[0].Line, problems[:1])
	}
	s := &Scenario{}
	if err := yaml.UnmarshalStrict(text, s); err != nil {
		return nil, err
	}
	if len(s.Steps) == 0 {
		return nil, errors.New(`no steps: write "steps:", and under it what each creates, updates or deletes`)
	}
	for i := range s.Steps {
		if err := s.Steps[i].check(); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Steps[i].title(i), err)
		}
	}
	return s, nil
}

func (s *Step) title(i int) string { return "step " + cmp.Or(s.Name, fmt.Sprint(i+1)) }

func (s *Step) check() error {
	if len(s.Create)+len(s.Update)+len(s.Delete) == 0 {
		return errors.New("nothing is done in it: write create, update or delete, with a list of objects")
	}
	for verb, listed := range map[string][]map[string]any{"create": s.Create, "update": s.Update, "delete": s.Delete} {
		for i, object := range listed {
			o := unstructured.Unstructured{Object: object}
			if o.GetAPIVersion() == "" || o.GetKind() == "" || o.GetName() == "" {
				return fmt.Errorf("%s[%d]: an object needs apiVersion, kind and metadata.name", verb, i)
			}
			if slices.Contains(owners, o.GetKind()) {
				return fmt.Errorf("%s[%d]: a %s makes no pods here, since they would be others on either side: write the pods", verb, i, o.GetKind())
			}
		}
	}
	return nil
}

// AddsNodes reports whether a step creates nodes, on which DaemonSets run pods.
func (s *Scenario) AddsNodes() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool {
		return slices.ContainsFunc(step.Create, func(o map[string]any) bool { return o["kind"] == "Node" })
	})
}

// owners are kinds that make pods.
var owners = []string{"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job", "CronJob"}

// do does a step, one object after the other, since the order counts. A pod may be rejected, and one to be deleted may
// be gone already: preemption has deleted it on one side.
func (s *Step) do(ctx context.Context, in *cluster.Cluster, rejected func(*v1.Pod, error)) error {
	create := func(manifest map[string]any) error {
		o, err := in.Decode(manifest)
		if err == nil {
			_, err = in.Create(ctx, o)
		}
		pod, isPod := o.(*v1.Pod)
		if isPod && cluster.IsRejection(err) {
			rejected(pod, err)
			return nil
		}
		return err
	}
	remove := func(manifest map[string]any) error {
		err := in.DeleteBy(manifest)
		if manifest["kind"] == "Pod" && apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	if err := each("create", s.Create, create); err != nil {
		return err
	}
	if err := each("update", s.Update, in.Patch); err != nil {
		return err
	}
	return each("delete", s.Delete, remove)
}

func each(verb string, manifests []map[string]any, do func(map[string]any) error) error {
	for _, manifest := range manifests {
		if err := do(runtime.DeepCopyJSON(manifest)); err != nil {
			o := unstructured.Unstructured{Object: manifest}
			return fmt.Errorf("%s %s %s: %w", verb, o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}
