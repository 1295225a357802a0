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
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/digest"
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
	replace(s, replacer{found.inText, found.inPattern, found.add})
	w := newWords(found, random)
	p := &patterns{words: w, done: map[string]string{}}
	for i := range s.Nodes {
		p.nodes = append(p.nodes, s.Nodes[i].Name)
		p.after = append(p.after, w.text(s.Nodes[i].Name))
	}
	replace(s, replacer{w.text, p.translate, w.word})
	source := ptr.Deref(s.Source, snapshot.Source{})
	s.Source = &snapshot.Source{
		Version: source.Version, Taken: source.Taken, Objects: s.Objects(), Anonymized: true,
		Notes: slices.Concat(source.Notes, kept), Unlisted: source.Unlisted,
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
func replace(s *snapshot.Snapshot, r replacer) {
	for _, kind := range snapshot.Kinds {
		for o := range kind.All(s) {
			name := o.GetName()
			r.walk(reflect.ValueOf(o).Elem())
			if _, ok := o.(*storagev1.CSIDriver); ok {
				o.SetName(name) // the driver's, which Kubernetes knows some of
				o.SetLabels(nil)
			}
		}
	}
}

// replacer replaces text, regexes and addresses.
type replacer struct{ text, pattern, address func(string) string }

// kept is what anonymous snapshots still show.
var kept = []snapshot.Notice{
	{About: "names", Reason: "kept: digits, the length of words, and the words " + strings.Join(slices.Sorted(maps.Keys(common)), ", ")},
	{About: "labels and taints", Reason: "kept: their keys"},
	{About: "storage and devices", Reason: "kept: the names of drivers and provisioners, and devices with their attributes and requests"},
	{About: "pods", Reason: "kept: the names of their schedulers and resources"},
	{About: "reasons and schedules", Reason: "kept: reasons of conditions and states, schedules of cron jobs and their time zones, versions of kubelets"},
	{About: "times", Reason: "kept, to the second: who has an audit log of the cluster can find objects by them"},
	{About: "controllerrevisions", Reason: "not in the snapshot: former templates are inferred from pods"},
}

// opaque are types in which nothing is replaced.
var opaque = []reflect.Type{
	reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.TypeMeta](), reflect.TypeFor[resource.Quantity](),
	reflect.TypeFor[v1.ObjectFieldSelector](), reflect.TypeFor[resourcev1.DeviceToleration](), reflect.TypeFor[resourcev1.Device](), reflect.TypeFor[resourcev1.CounterSet](), reflect.TypeFor[resourcev1.DeviceClassSpec](),
}

// asIs are fields of text that names nothing of a user's, or that Kubernetes must
// recognize.
var asIs = map[string]bool{
	"Reason": true, "Resource": true, "Schedule": true, "TimeZone": true, "KubeletVersion": true, "KeyType": true, "Key": true, "TopologyKey": true, "TopologyKeys": true,
	"MatchLabelKeys": true, "MismatchLabelKeys": true, "SchedulerName": true, "Driver": true, "Attacher": true, "Provisioner": true,
	"DeclaredFeatures": true, "ClusterIP": true, "DeviceID": true, "BindingConditions": true, "BindingFailureConditions": true,
	"Request": true, "Requests": true, "Device": true, "Expression": true, "Annotations": true, "ResourceName": true,
}

// recognized are words by which Kubernetes decides, in fields that may have words of others, too.
var recognized = map[string]bool{
	metav1.FinalizerOrphanDependents: true, metav1.FinalizerDeleteDependents: true, string(v1.FinalizerKubernetes): true,
	"container_t": true, "container_init_t": true, "container_kvm_t": true, "container_engine_t": true, // which pod security admits

	"Ready": true, "MemoryPressure": true, "DiskPressure": true, "PIDPressure": true, "NetworkUnavailable": true,
	"PodScheduled": true, "Initialized": true, "ContainersReady": true, "PodReadyToStartContainers": true, "DisruptionTarget": true,
	"PodResizePending": true, "PodResizeInProgress": true, "AllContainersRestarting": true,
	"Available": true, "Progressing": true, "ReplicaFailure": true, "DisruptionAllowed": true, "Complete": true, "Failed": true, "Suspended": true,
	"FailureTarget": true, "SuccessCriteriaMet": true, "Resizing": true, "FileSystemResizePending": true, "ControllerResizeError": true,
	"NodeResizeError": true, "ModifyVolumeError": true, "ModifyingVolume": true, "Unused": true, "PodGroupScheduled": true,
}

// name replaces text that may be Kubernetes' own, and stays then.
func (r replacer) name(text string) string {
	if recognized[text] || isKubernetes(text) {
		return text
	}
	return r.text(text)
}

// walk replaces all text in a value. Text of a type of its own, such as an operator or an effect, is a word of the API, and stays, but
// for types of conditions, finalizers and volumes, which are anybody's; so do the keys of maps, but for classes in the names of resources.
func (r replacer) walk(v reflect.Value) {
	t := v.Type()
	switch {
	case slices.Contains(opaque, t):
		return
	case v.Kind() == reflect.Pointer && !v.IsNil():
		r.walk(v.Elem())
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			r.walk(v.Index(i))
		}
	case t == reflect.TypeFor[v1.ResourceName]():
		v.SetString(r.resource(v.String()))
	case t == reflect.TypeFor[v1.FinalizerName](), strings.HasSuffix(t.Name(), "ConditionType"):
		v.SetString(r.name(v.String()))
	case slices.Contains([]string{"string", "UID", "UniqueVolumeName", "ResourceID"}, t.Name()):
		v.SetString(r.text(v.String()))
	case v.Kind() == reflect.Map && t.Key() == reflect.TypeFor[v1.ResourceName]():
		for _, key := range v.MapKeys() {
			value := v.MapIndex(key)
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(reflect.ValueOf(v1.ResourceName(r.resource(key.String()))), value)
		}
	case v.Kind() == reflect.Map && t.Elem() == reflect.TypeFor[string]():
		for _, key := range v.MapKeys() {
			if !strings.HasPrefix(key.String(), "pod-security.kubernetes.io/") { // whose values Kubernetes knows
				v.SetMapIndex(key, reflect.ValueOf(r.text(v.MapIndex(key).String())))
			}
		}
	case v.Kind() == reflect.Struct:
		r.fields(v)
	}
}

// fields replaces the text in the fields of a struct.
func (r replacer) fields(v reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		switch at := v.Field(i); {
		case !field.IsExported(), asIs[field.Name], isDriver(v.Type(), field.Name):
		case field.Name == "Finalizers":
			for i := range at.Len() {
				at.Index(i).SetString(r.name(at.Index(i).String()))
			}
		case field.Name == "HostIP":
			if isAddress(at.String()) {
				at.SetString(r.address(at.String()))
			} else {
				r.walk(at)
			}
		case field.Name == "ManagedBy", field.Name == "SignerName", v.Type() == reflect.TypeFor[v1.SELinuxOptions](), v.Type() == reflect.TypeFor[metav1.Condition]():
			at = reflect.Indirect(at)
			if at.Kind() == reflect.String && at.Type() == reflect.TypeFor[string]() {
				at.SetString(r.name(at.String()))
			}
		case field.Name == "APIVersion" || field.Name == "APIGroup" || field.Name == "Kind" && at.Type() == reflect.TypeFor[string]():
			group := reflect.Indirect(v.FieldByNameFunc(func(name string) bool { return name == "APIVersion" || name == "APIGroup" }))
			if group.IsValid() && !isGroup(group.String()) {
				defer func() { r.walk(at) }() // when the kind is replaced, too
			}
		default:
			r.walk(at)
		}
	}
	if meta, ok := v.Addr().Interface().(*metav1.ObjectMeta); ok {
		meta.Annotations = r.annotations(meta.Annotations)
	}
}

// isGroup reports whether an API version is of a group of Kubernetes.
func isGroup(version string) bool {
	group, _, _ := strings.Cut(version, "/")
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// resource replaces the class in the name of a resource, by which a quota counts or a device is requested.
func (r replacer) resource(name string) string {
	for _, of := range []string{".storageclass.storage.k8s.io/", ".deviceclass.resource.k8s.io/"} {
		if class, counted, ok := strings.Cut(name, of); ok {
			return r.text(class) + of + counted
		}
	}
	before, class, ok := strings.Cut(name, resourcev1.ResourceDeviceClassPrefix)
	if ok {
		return before + resourcev1.ResourceDeviceClassPrefix + r.text(class)
	}
	return name
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
var naming = []string{
	"volume.kubernetes.io/selected-node", "volume.beta.kubernetes.io/storage-class", "resource.kubernetes.io/pod-claim-name", "kubectl.kubernetes.io/default-container",
	v1.SeccompPodAnnotationKey,
}

// annotations replaces what is in annotations, of an object or of what is made of it. Some keys name containers.
func (r replacer) annotations(all map[string]string) map[string]string {
	for key, value := range maps.Clone(all) {
		domain, container, _ := strings.Cut(key, "/")
		switch {
		case key == v1.LastAppliedConfigAnnotation: // in which names are
			delete(all, key)
		case slices.Contains(regex.Default.Keys(), key):
			all[key] = r.pattern(value)
		case domain+"/" == v1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix, domain+"/" == v1.SeccompContainerAnnotationKeyPrefix:
			delete(all, key)
			all[domain+"/"+r.text(container)] = r.text(value)
		case slices.Contains(naming, key), !digest.Decides(key):
			all[key] = r.text(value)
		}
	}
	return all
}
