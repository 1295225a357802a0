package player

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"wasmkwokwizardry.io/regex-scheduling/simulator/stages"
)

// fieldManager is who owns the fields that stages set.
const fieldManager = "stages"

// performance is one of a stage on an object.
type performance struct {
	*Player
	at     *progress
	source *stages.Object             // as it was: templates are about that
	newest *unstructured.Unstructured // what the last patch has made of it, or nil
}

// errOutrun says that the object is another one by now, or gone. Its informer will
// say so in a moment.
var errOutrun = errors.New("the object has changed")

// perform does the steps that are left of a stage. It returns the object if that
// has changed.
func (p *Player) perform(ctx context.Context, at *progress, o *stages.Object) (metav1.Object, error) {
	do := performance{Player: p, at: at, source: o}
	for ; at.step < len(at.stage.Steps); at.step++ {
		err := do.step(ctx, &at.stage.Steps[at.step])
		if errors.Is(err, errOutrun) {
			at.stage, at.seen = nil, ""
			return nil, nil
		}
		if err != nil {
			do.keep()
			return nil, fmt.Errorf("step %d: %w", at.step+1, err)
		}
	}
	at.stage = nil
	return do.result()
}

// keep makes the stage go on with this step when the change of an earlier one is
// seen, instead of being chosen anew.
func (do *performance) keep() {
	if do.newest != nil {
		do.at.seen = do.newest.GetResourceVersion()
	}
}

// result is the object in the form in which it came.
func (do *performance) result() (metav1.Object, error) {
	if do.newest == nil {
		return nil, nil
	}
	var typed metav1.Object
	switch do.of {
	case stages.Pods:
		typed = &v1.Pod{}
	case stages.Nodes:
		typed = &v1.Node{}
	default:
		return do.newest, nil
	}
	return typed, runtime.DefaultUnstructuredConverter.FromUnstructured(do.newest.Object, typed)
}

// object is the newest that is known of it.
func (do *performance) object() metav1.Object {
	if do.newest != nil {
		return do.newest
	}
	return do.source.Object
}

func (do *performance) step(ctx context.Context, step *stages.Step) error {
	if step.Event != nil {
		do.event(step.Event)
	}
	if step.Finalizers != nil {
		if err := do.finalizers(ctx, step.Finalizers); err != nil {
			return fmt.Errorf("finalizers: %w", err)
		}
	}
	if step.Delete {
		if err := do.remove(ctx); err != nil {
			return fmt.Errorf("delete: %w", err)
		}
	}
	if step.Patch != nil {
		if err := do.patch(ctx, step.Patch); err != nil {
			return fmt.Errorf("patch: %w", err)
		}
	}
	if step.Apply != nil {
		if err := do.apply(ctx, step.Apply); err != nil {
			return fmt.Errorf("apply: %w", err)
		}
	}
	return nil
}

func (do *performance) event(e *stages.Event) {
	o := do.object()
	do.server.events.Event(&v1.ObjectReference{
		APIVersion: do.of.APIVersion, Kind: do.of.Kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(),
	}, e.Type, e.Reason, e.Message)
}

// client is one for the object, of a user or of the stages' own identity.
func (do *performance) client(user string) (dynamic.ResourceInterface, error) {
	client, err := do.server.client(user)
	if err != nil {
		return nil, err
	}
	resource := client.Resource(do.resource.GroupVersionResource)
	if do.resource.namespaced {
		return resource.Namespace(do.source.GetNamespace()), nil
	}
	return resource, nil
}

func (do *performance) finalizers(ctx context.Context, change *stages.Finalizers) error {
	old := do.object().GetFinalizers()
	now := change.Change(old)
	if slices.Equal(old, now) {
		return nil
	}
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": now}})
	if err != nil {
		return err
	}
	return do.send(ctx, types.MergePatchType, data, "", "")
}

// remove deletes the object at once.
func (do *performance) remove(ctx context.Context) error {
	client, err := do.client("")
	if err != nil {
		return err
	}
	now, uid := int64(0), do.source.GetUID()
	return outrun(client.Delete(ctx, do.source.GetName(), metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &uid},
	}))
}

func outrun(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return errOutrun
	}
	return err
}

// patch sends a patch, if it would change anything.
func (do *performance) patch(ctx context.Context, patch *stages.Patch) error {
	data, err := patch.Data(do.source, do.cluster)
	if err != nil {
		return err
	}
	if ok, err := do.changes(patch.Type, data); err != nil || !ok {
		return err
	}
	return do.send(ctx, patch.Type, data, patch.As, patch.Subresource)
}

// changes reports whether the object would be another one.
func (do *performance) changes(kind types.PatchType, data []byte) (bool, error) {
	before, err := do.json()
	if err != nil {
		return false, err
	}
	after, err := applied(before, kind, data, do.blank())
	if err != nil {
		return false, err
	}
	old, now := do.blank(), do.blank()
	if err := errors.Join(json.Unmarshal(before, old), json.Unmarshal(after, now)); err != nil {
		return false, err
	}
	return !equality.Semantic.DeepEqual(old, now), nil
}

func (do *performance) json() ([]byte, error) {
	if do.newest != nil {
		return do.newest.MarshalJSON()
	}
	return do.source.JSON()
}

// send sends a patch of the version that is known.
func (do *performance) send(ctx context.Context, kind types.PatchType, data []byte, user, subresource string) error {
	data, err := ofVersion(do.object().GetResourceVersion(), kind, data)
	if err != nil {
		return err
	}
	client, err := do.client(user)
	if err != nil {
		return err
	}
	made, err := client.Patch(ctx, do.source.GetName(), kind, data, metav1.PatchOptions{FieldManager: fieldManager}, of(subresource)...)
	if err != nil {
		return outrun(err)
	}
	do.newest, do.at.written = made, made.GetResourceVersion()
	return nil
}

// apply makes an object, or patches it if it is there.
func (do *performance) apply(ctx context.Context, apply *stages.Apply) error {
	data, err := apply.Data(do.source, do.cluster)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(data, &object.Object); err != nil {
		return err
	}
	kind := object.GroupVersionKind()
	if kind.Kind == "" || kind.Version == "" {
		return errors.New("the template must write apiVersion and kind")
	}
	client, err := do.server.client(apply.As)
	if err != nil {
		return err
	}
	mapping, err := do.server.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	var to dynamic.ResourceInterface = client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		object.SetNamespace(cmp.Or(object.GetNamespace(), do.source.GetNamespace()))
		to = client.Resource(mapping.Resource).Namespace(object.GetNamespace())
	}
	if err := put(ctx, to, object, apply); err != nil {
		return fmt.Errorf("%s %s: %w", object.GetKind(), cmp.Or(object.GetName(), object.GetGenerateName()), err)
	}
	return nil
}

func put(ctx context.Context, to dynamic.ResourceInterface, object *unstructured.Unstructured, apply *stages.Apply) error {
	if apply.Subresource == "" {
		_, err := to.Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager})
		if !apierrors.IsAlreadyExists(err) || object.GetName() == "" {
			return err
		}
	}
	data, err := object.MarshalJSON()
	if err != nil {
		return err
	}
	options := metav1.PatchOptions{FieldManager: fieldManager}
	if apply.Type == types.ApplyPatchType {
		force := true
		options.Force = &force
	}
	_, err = to.Patch(ctx, object.GetName(), apply.Type, bytes.TrimSpace(data), options, of(apply.Subresource)...)
	return err
}

// of is a subresource as clients take it, or none.
func of(subresource string) []string {
	if subresource == "" {
		return nil
	}
	return []string{subresource}
}
