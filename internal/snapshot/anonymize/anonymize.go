// Package anonymize replaces the names in a snapshot, so that it can be shown to
// others and still means the same to a scheduler.
//
// Every UID becomes another one, also where it is part of a name. Every word, a run of letters, becomes another word of the same length, the same
// one everywhere: in names, in the values of labels, in selectors and affinity, in
// images and in regexes. Digits and what stands between words stay, so names keep
// their shape, and two names are equal afterwards if they were before. The words
// are drawn for each snapshot, and not kept. No word stays itself, and none becomes
// another one of the snapshot, unless the snapshot has more than half of all words of
// that length, as it may have of single letters.
//
// What a regex matches is compared before and after, node by node.
package anonymize

import (
	crand "crypto/rand"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Snapshot replaces the names in a snapshot, and notes in its source what it kept
// as it was, and what may no longer mean the same. annotations are the keys of
// further annotations that it has.
func Snapshot(s *snapshot.Snapshot, annotations []string) {
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // it never fails
	anonymize(s, annotations, rand.New(rand.NewChaCha8(seed)))
}

func anonymize(s *snapshot.Snapshot, annotations []string, random *rand.Rand) {
	s.ControllerRevisions = nil // templates in JSON, which controllers compare byte by byte
	found := secrets{}
	replace(s, found.inText, found.inPattern)
	w := newWords(found, random)
	p := &patterns{words: w, done: map[string]string{}}
	for i := range s.Nodes {
		p.nodes = append(p.nodes, s.Nodes[i].Name)
		p.after = append(p.after, w.text(s.Nodes[i].Name))
	}
	replace(s, w.text, p.translate)
	source := ptr.Deref(s.Source, snapshot.Source{})
	s.Source = &snapshot.Source{
		Version: source.Version, Taken: source.Taken, Objects: s.Objects(), Anonymized: true,
		Notes: slices.Concat(source.Notes, kept),
	}
	for _, key := range annotations {
		s.Source.Notes = append(s.Source.Notes, snapshot.Notice{
			About: "annotation " + key, Reason: "its words are replaced like all others; whether it still means the same is not known",
		})
	}
	s.Source.Notes = append(s.Source.Notes, p.notices...)
	s.SchedulerConfig = nil
}

// replace replaces each text of a snapshot, and each regex.
func replace(s *snapshot.Snapshot, text, pattern func(string) string) {
	for _, kind := range snapshot.Kinds {
		for o := range kind.All(s) {
			if _, ok := o.(*storagev1.CSIDriver); ok {
				o.SetLabels(nil) // its name is the driver's, which Kubernetes knows some of
				continue
			}
			walk(reflect.ValueOf(o).Elem(), text)
			rewrite(o, text, pattern)
		}
	}
}

// kept is what anonymous snapshots still show.
var kept = []snapshot.Notice{
	{About: "names", Reason: "kept: digits, the length of words, and the words " + strings.Join(slices.Sorted(maps.Keys(common)), ", ")},
	{About: "labels and taints", Reason: "kept: their keys"},
	{About: "storage and devices", Reason: "kept: the names of drivers and provisioners, and devices with their attributes and requests"},
	{About: "pods", Reason: "kept: the names of their schedulers and resources"},
	{About: "times", Reason: "kept, to the second: who has an audit log of the cluster can find objects by them"},
	{About: "controllerrevisions", Reason: "not in the snapshot: former templates are inferred from pods"},
}

// opaque are types in which nothing is replaced.
var opaque = []reflect.Type{
	reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.TypeMeta](), reflect.TypeFor[resource.Quantity](),
	reflect.TypeFor[resourcev1.Device](), reflect.TypeFor[resourcev1.CounterSet](), reflect.TypeFor[resourcev1.DeviceClassSpec](),
}

// asIs are fields of text that names nothing of a user's, or that Kubernetes must
// recognize.
var asIs = map[string]bool{
	"APIVersion": true, "Kind": true, "APIGroup": true, "Key": true, "TopologyKey": true, "TopologyKeys": true,
	"MatchLabelKeys": true, "MismatchLabelKeys": true, "SchedulerName": true, "Driver": true, "Attacher": true, "Provisioner": true,
	"Finalizers": true, "DeclaredFeatures": true, "ClusterIP": true, "HostIP": true, "DeviceID": true,
	"Request": true, "Requests": true, "Device": true, "Expression": true, "Annotations": true,
}

// walk replaces all plain text in a value. Text of a type of its own, such as an
// operator or an effect, is a word of the API, and stays; so do the keys of maps.
func walk(v reflect.Value, text func(string) string) {
	if slices.Contains(opaque, v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), text)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() || v.Type() == reflect.TypeFor[types.UID]() {
			v.SetString(text(v.String()))
		}
	case reflect.Map:
		if v.Type().Elem() == reflect.TypeFor[string]() {
			for _, key := range v.MapKeys() {
				v.SetMapIndex(key, reflect.ValueOf(text(v.MapIndex(key).String())))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if field.IsExported() && !asIs[field.Name] && !isDriver(v.Type(), field.Name) {
				walk(v.Field(i), text)
			}
		}
	}
}

// isDriver reports whether a name is one of drivers and of requests for devices.
func isDriver(t reflect.Type, field string) bool {
	switch t {
	case reflect.TypeFor[storagev1.CSINodeDriver](), reflect.TypeFor[resourcev1.DeviceRequest](), reflect.TypeFor[resourcev1.DeviceSubRequest]():
		return field == "Name"
	}
	return false
}

// naming are the annotations of Kubernetes' own whose values are names.
var naming = []string{"volume.kubernetes.io/selected-node", "volume.beta.kubernetes.io/storage-class", "resource.kubernetes.io/pod-claim-name"}

// rewrite replaces what is in the annotations of an object, and of the pods it makes, and finalizers of others than Kubernetes.
func rewrite(o snapshot.Object, text, pattern func(string) string) {
	finalizers := o.GetFinalizers()
	for i, finalizer := range finalizers {
		if !isKubernetes(finalizer) {
			finalizers[i] = text(finalizer)
		}
	}
	all := []map[string]string{o.GetAnnotations()}
	template := snapshot.PodTemplate(o)
	if template != nil {
		all = append(all, template.Annotations)
	}
	for _, annotations := range all {
		for key, value := range annotations {
			switch {
			case key == v1.LastAppliedConfigAnnotation: // in which names are
				delete(annotations, key)
			case slices.Contains(regex.Default.Keys(), key):
				annotations[key] = pattern(value)
			case slices.Contains(naming, key) || !isKubernetes(key):
				annotations[key] = text(value)
			}
		}
	}
}
