package stages

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

func (c *compiler) steps(in *spec) []Step {
	var all []Step
	steps, paths := in.Steps, make([]string, len(in.Steps))
	for i := range steps {
		paths[i] = fmt.Sprintf("spec.steps[%d]", i)
	}
	switch {
	case len(steps) > 0 && in.Next != nil:
		c.remark("spec.next", "is not read, as in KWOK, since there are steps")
	case in.Next != nil:
		steps, paths = c.next(in.Next)
	}
	if len(steps) == 0 {
		c.remark("spec.steps", "are missing, and so the stage does nothing, as in KWOK")
	}
	deleted := false
	for i := range steps {
		all = append(all, c.step(&steps[i], paths[i], deleted))
		deleted = deleted || steps[i].Delete
	}
	return all
}

// next makes steps of what there was before these, with the path of each.
func (c *compiler) next(n *next) (steps []step, paths []string) {
	add := func(path string, s step) { steps, paths = append(steps, s), append(paths, path) }
	if n.Event != nil {
		add("spec.next", step{Event: n.Event})
	}
	if n.Finalizers != nil {
		add("spec.next", step{Finalizers: n.Finalizers})
	}
	for i := range n.Patches {
		add(fmt.Sprintf("spec.next.patches[%d]", i), step{Patch: &n.Patches[i]})
	}
	switch {
	case n.StatusTemplate == "" && n.StatusPatchAs != nil:
		c.wrong("spec.next.statusPatchAs", "is about the statusTemplate, and there is none")
	case len(n.Patches) > 0 && n.StatusTemplate != "":
		c.wrong("spec.next.statusTemplate", "is not read by KWOK where there are patches: make it one of them, with root: status and subresource: status")
	case n.StatusTemplate != "":
		p := patch{Template: n.StatusTemplate, Root: "status", Subresource: "status", Impersonation: n.StatusPatchAs}
		if n.StatusSubresource != nil {
			p.Subresource = *n.StatusSubresource
		}
		add("spec.next.statusTemplate", step{Patch: &p})
	}
	if n.Delete {
		add("spec.next", step{Delete: true})
	}
	return steps, paths
}

// step compiles one step. After one that deletes, KWOK does nothing but send events.
func (c *compiler) step(in *step, at string, deleted bool) Step {
	out := Step{Delete: in.Delete}
	switch {
	case *in == (step{}):
		c.wrong(at, "is empty: write an event, finalizers, a patch, an apply or delete: true")
	case in.Delete && (in.Patch != nil || in.Apply != nil):
		c.wrong(at, "deletes the object, and so KWOK does not do the patch or apply: make a step before it of that")
	case deleted && (in.Patch != nil || in.Apply != nil || in.Finalizers != nil || in.Delete):
		c.wrong(at, "is not done by KWOK, since a step before it deletes the object: put it before that")
	}
	if in.Event != nil {
		out.Event = c.event(in.Event, at+".event")
	}
	if in.Finalizers != nil {
		out.Finalizers = c.finalizers(in.Finalizers, at+".finalizers")
	}
	if in.Patch != nil {
		if strings.HasPrefix(at, "spec.steps") {
			at += ".patch"
		}
		out.Patch = c.patch(in.Patch, at)
	}
	if in.Apply != nil {
		out.Apply = c.apply(in.Apply, at+".apply")
	}
	return out
}

func (c *compiler) event(in *event, at string) *Event {
	if may := []string{v1.EventTypeNormal, v1.EventTypeWarning}; !slices.Contains(may, in.Type) {
		c.wrong(at+".type", unknown(in.Type, may))
	}
	return &Event{in.Type, in.Reason, in.Message}
}

func (c *compiler) finalizers(in *finalizers, at string) *Finalizers {
	if len(in.Add)+len(in.Remove) == 0 && !in.Empty {
		c.wrong(at, "are empty: write add, remove or empty: true")
	}
	names := func(items []finalizer, at string) (all []string) {
		for i, item := range items {
			if item.Value == "" {
				c.wrongf(fmt.Sprintf("%s[%d]", at, i), "has no value: write the finalizer")
			}
			all = append(all, item.Value)
		}
		return all
	}
	return &Finalizers{Add: names(in.Add, at+".add"), Remove: names(in.Remove, at+".remove"), Empty: in.Empty}
}

// patchTypes are what patches may be, and appliesAs what an object that is there
// may be applied as. Without a type a patch is what the kind allows.
var (
	patchTypes = map[string]types.PatchType{
		"json": types.JSONPatchType, "merge": types.MergePatchType, "strategic": types.StrategicMergePatchType,
	}
	appliesAs = map[string]types.PatchType{
		"": types.ApplyPatchType, "apply": types.ApplyPatchType, "merge": types.MergePatchType, "strategic": types.StrategicMergePatchType,
	}
)

func (c *compiler) patch(in *patch, at string) *Patch {
	out := &Patch{Type: patchTypes[in.Type], Subresource: in.Subresource, root: in.Root, As: c.as(in.Impersonation, at)}
	gv, _ := schema.ParseGroupVersion(c.of.APIVersion)
	switch known := scheme.Scheme.Recognizes(gv.WithKind(c.of.Kind)); {
	case in.Type == "" && (c.of == Pods || c.of == Nodes):
		out.Type = types.StrategicMergePatchType
	case in.Type == "":
		out.Type = types.MergePatchType
	case out.Type == "":
		c.wrong(at+".type", unknown(in.Type, []string{"json", "merge", "strategic"}))
	case in.Type == "strategic" && !known:
		c.wrongf(at+".type", "is strategic, which there is for Kubernetes' own kinds alone, and not for %s: write merge", c.of)
	}
	out.text = c.template(in.Template, at)
	return out
}

func (c *compiler) apply(in *apply, at string) *Apply {
	kind, ok := appliesAs[in.Type]
	if !ok {
		c.wrong(at+".type", unknown(in.Type, []string{"apply", "merge", "strategic"}))
	}
	out := &Apply{Type: kind, Subresource: in.Subresource, As: c.as(in.Impersonation, at)}
	if in.Impersonation != nil && (c.of == Pods || c.of == Nodes) {
		c.wrongf(at+".impersonation", "is not read by KWOK in stages of %ss: take it away", c.of.Kind)
	}
	out.text = c.template(in.Template, at)
	return out
}

// template compiles the template of a patch at a path, which is that of the template
// where there is nothing but it.
func (c *compiler) template(source, at string) *text {
	if !strings.HasSuffix(at, "Template") {
		at += ".template"
	}
	if strings.TrimSpace(source) == "" {
		c.wrong(at, "is missing: write what is to be sent")
		return nil
	}
	compiled, err := compileText(c.of, source)
	if err != nil {
		c.wrong(at, err.Error())
	}
	return compiled
}

func (c *compiler) as(u *user, at string) string {
	if u == nil {
		return ""
	}
	if u.Username == "" {
		c.wrong(at+".impersonation.username", "is missing: write who is to send it")
	}
	return u.Username
}
