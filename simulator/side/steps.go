package side

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
	"wasmkwokwizardry.io/regex-scheduling/simulator/objects"
)

// Scenario is what happens after the pods of the file are scheduled, step by step.
type Scenario struct {
	Steps []Step `json:"steps"`
}

// Step is done in a cluster at rest: what it creates first, in the order of
// the file, then what it updates, and then what it deletes.
type Step struct {
	Name   string           `json:"name,omitempty"`   // what the step is called where something is told of it
	Create []map[string]any `json:"create,omitempty"` // whole objects
	// Update are the fields of objects that are to be otherwise, as for kubectl
	// apply.
	Update []map[string]any `json:"update,omitempty"`
	Delete []map[string]any `json:"delete,omitempty"` // objects, by apiVersion, kind and metadata
}

// ReadScenario reads a scenario, and says all that is wrong with it.
func ReadScenario(text []byte) (*Scenario, error) {
	if problems := yamlcheck.Parse(text).Check(reflect.TypeFor[Scenario]()); len(problems) > 0 {
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

// owners are kinds that make pods.
var owners = []string{"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job", "CronJob"}

const fieldManager = "simulator-compare"

// do does a step, one object after the other, since the order counts.
func (s *side) do(ctx context.Context, step *Step) error {
	client, err := objects.New(s.sim.AdminConfig())
	if err != nil {
		return err
	}
	for _, part := range []struct {
		verb    string
		objects []map[string]any
		do      func(context.Context, dynamic.ResourceInterface, *unstructured.Unstructured) error
	}{{"create", step.Create, create}, {"update", step.Update, update}, {"delete", step.Delete, s.remove}} {
		for _, object := range part.objects {
			o := (&unstructured.Unstructured{Object: object}).DeepCopy()
			o.SetOwnerReferences(s.imports.Owned(o.GetOwnerReferences()))
			resource, err := client.Of(o)
			if err == nil {
				err = part.do(ctx, resource, o)
			}
			if err != nil {
				return fmt.Errorf("%s %s %s: %w", part.verb, o.GetKind(), o.GetName(), err)
			}
		}
	}
	return nil
}

func create(ctx context.Context, to dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	status := o.Object["status"]
	if _, err := to.Create(ctx, o, metav1.CreateOptions{FieldManager: fieldManager, FieldValidation: metav1.FieldValidationStrict}); err != nil || o.GetKind() != "Node" {
		return err
	}
	return setStatus(ctx, to, o.GetName(), status)
}

func update(ctx context.Context, to dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	if _, err := to.Get(ctx, o.GetName(), metav1.GetOptions{}); err != nil {
		return err // or apply would make it
	}
	status := o.Object["status"]
	delete(o.Object, "status")
	if _, err := to.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: fieldManager, Force: true}); err != nil {
		return err
	}
	return setStatus(ctx, to, o.GetName(), status)
}

// setStatus says how large a node is, say. Without a status it does nothing.
func setStatus(ctx context.Context, to dynamic.ResourceInterface, name string, status any) error {
	if status == nil {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	_, err = to.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}, "status")
	return err
}

// remove deletes an object at once. A pod that preemption has deleted on one side
// is gone already.
func (s *side) remove(ctx context.Context, from dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	isPod := o.GetKind() == "Pod"
	if isPod {
		s.removed.Insert(types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()})
	}
	err := from.Delete(ctx, o.GetName(), metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
	if isPod && apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
