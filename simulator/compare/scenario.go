package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
	"wasmkwokwizardry.io/regex-scheduling/simulator"
)

// Scenario is what happens after the pods of the file are scheduled, step by step.
type Scenario struct {
	Steps []ScenarioStep `json:"steps"`
}

// ScenarioStep is done in a cluster at rest: what it creates first, in the order of
// the file, then what it updates, and then what it deletes.
type ScenarioStep struct {
	// Name is what the step is called where something is told of it.
	Name string `json:"name"`
	// Create are whole objects.
	Create []map[string]any `json:"create"`
	// Update are the fields of objects that are to be otherwise, as for kubectl
	// apply.
	Update []map[string]any `json:"update"`
	// Delete are objects, by apiVersion, kind and metadata.
	Delete []map[string]any `json:"delete"`
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

func (s *ScenarioStep) title(i int) string {
	return "step " + cmp.Or(s.Name, fmt.Sprint(i+1))
}

func (s *ScenarioStep) check() error {
	if len(s.Create)+len(s.Update)+len(s.Delete) == 0 {
		return errors.New("nothing is done in it: write create, update or delete, with a list of objects")
	}
	for verb, objects := range map[string][]map[string]any{"create": s.Create, "update": s.Update, "delete": s.Delete} {
		for i, object := range objects {
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

func (s *ScenarioStep) step(i int) step {
	return step{s.title(i), func(ctx context.Context, on *side) error {
		w, err := newWriter(on)
		if err != nil {
			return err
		}
		return errors.Join(
			w.each(ctx, "create", s.Create, w.create),
			w.each(ctx, "update", s.Update, w.update),
			w.each(ctx, "delete", s.Delete, w.remove),
		)
	}}
}

// writer does what scenarios say.
type writer struct {
	client  dynamic.Interface
	mapper  meta.RESTMapper
	imports *simulator.Importer
	removed sets.Set[types.NamespacedName]
}

func newWriter(s *side) (*writer, error) {
	client, err := dynamic.NewForConfig(s.sim.AdminConfig())
	if err != nil {
		return nil, err
	}
	discovery := memory.NewMemCacheClient(s.sim.Client().Discovery())
	return &writer{client, restmapper.NewDeferredDiscoveryRESTMapper(discovery), s.imports, s.removed}, nil
}

type write = func(context.Context, dynamic.ResourceInterface, *unstructured.Unstructured) error

// each does so one after the other, since the order counts.
func (w *writer) each(ctx context.Context, verb string, objects []map[string]any, do write) error {
	for _, object := range objects {
		o := (&unstructured.Unstructured{Object: object}).DeepCopy()
		o.SetOwnerReferences(w.imports.Owned(o.GetOwnerReferences()))
		resource, err := w.resource(o)
		if err == nil {
			err = do(ctx, resource, o)
		}
		if err != nil {
			return fmt.Errorf("%s %s %s: %w", verb, o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

func (w *writer) resource(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := o.GroupVersionKind()
	mapping, err := w.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return w.client.Resource(mapping.Resource), nil
	}
	o.SetNamespace(cmp.Or(o.GetNamespace(), metav1.NamespaceDefault))
	return w.client.Resource(mapping.Resource).Namespace(o.GetNamespace()), nil
}

const fieldManager = "simulator-compare"

func (w *writer) create(ctx context.Context, to dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	made, err := to.Create(ctx, o, metav1.CreateOptions{FieldManager: fieldManager, FieldValidation: metav1.FieldValidationStrict})
	if err != nil || o.Object["status"] == nil || o.GetKind() != "Node" {
		return err
	}
	return w.status(ctx, to, made.GetName(), o.Object["status"])
}

// status says how large a node is.
func (w *writer) status(ctx context.Context, to dynamic.ResourceInterface, name string, status any) error {
	patch, err := yaml.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	if patch, err = yaml.YAMLToJSON(patch); err != nil {
		return err
	}
	_, err = to.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}, "status")
	return err
}

func (w *writer) update(ctx context.Context, to dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	if _, err := to.Get(ctx, o.GetName(), metav1.GetOptions{}); err != nil {
		return err // or apply would make it
	}
	status := o.Object["status"]
	delete(o.Object, "status")
	_, err := to.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil || status == nil {
		return err
	}
	return w.status(ctx, to, o.GetName(), status)
}

// remove deletes an object at once. A pod that preemption has deleted on one side
// is gone already.
func (w *writer) remove(ctx context.Context, from dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	if o.GetKind() == "Pod" {
		w.removed.Insert(types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()})
	}
	err := from.Delete(ctx, o.GetName(), metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
	if apierrors.IsNotFound(err) && o.GetKind() == "Pod" {
		return nil
	}
	return err
}
