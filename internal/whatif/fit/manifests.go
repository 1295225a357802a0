package fit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/report"
)

// Manifests are what may come to a cluster.
type Manifests struct {
	objects   snapshot.Snapshot // what pods depend on, and what makes them
	sets      []appsv1.ReplicaSet
	workloads []*Workload
	kinds     map[string]int // how many objects were read
	skipped   map[string]int // by kind
	unknown   map[string]int // of which it is not known whether they create pods, by kind
}

func newManifests() *Manifests {
	return &Manifests{kinds: map[string]int{}, skipped: map[string]int{}, unknown: map[string]int{}}
}

// Read reads files as kubectl does: those of directories too, and stdin for "-". An error
// is about the first mistake, or says that nothing makes pods.
func Read(paths []string, stdin io.Reader) (*Manifests, error) {
	m := newManifests()
	if err := m.read(paths, stdin); err != nil {
		return nil, err
	}
	m.sort()
	if len(m.workloads) == 0 {
		read := strings.Join(paths, ", ")
		if slices.Equal(paths, []string{"-"}) {
			read = "the manifests"
		}
		return nil, fmt.Errorf("nothing in %s makes pods: there is %s", read, cmp.Or(report.Counted(m.kinds), "no object"))
	}
	return m, nil
}

// read reads objects, and counts them by kind.
func (m *Manifests) read(paths []string, stdin io.Reader) error {
	seen := map[string]bool{}
	files := resource.NewLocalBuilder().Unstructured().Flatten()
	for _, path := range paths {
		if path == "-" {
			files.Stream(stdin, "the manifests")
		} else {
			files.FilenameParam(false, &resource.FilenameOptions{Filenames: []string{path}})
		}
	}
	return files.Do().Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		gvk := info.Object.GetObjectKind().GroupVersionKind()
		m.kinds[gvk.Kind]++
		name := cache.NewObjectName(info.Namespace, info.Name).String()
		key := gvk.GroupKind().String() + " " + name
		if info.Name != "" && seen[key] {
			return fmt.Errorf("%s: %s %s is there twice", info.Source, gvk.Kind, name)
		}
		seen[key] = true
		raw, _ := json.Marshal(info.Object) // which was JSON
		known, err := m.objects.AddManifest(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", info.Source, err)
		}
		if !known {
			m.addUnknown(info.Object.(*unstructured.Unstructured))
		}
		return nil
	})
}

// clone is for a run, which changes what it tries.
func (m *Manifests) clone() *Manifests {
	c := &Manifests{objects: *m.objects.DeepCopy(), skipped: m.skipped, unknown: m.unknown}
	for _, w := range m.workloads {
		copied := *w
		copied.template, copied.Pods = w.template.DeepCopy(), map[string]string{}
		copied.rejections = map[string]string{}
		c.workloads = append(c.workloads, &copied)
	}
	return c
}

// installs are the hooks of Helm that run when a chart comes to a cluster.
var installs = regexp.MustCompile(`(pre|post)-(install|upgrade)`)

// sort finds what makes pods, and skips what does so at another time.
func (m *Manifests) sort() {
	m.objects.Sort()
	for _, kind := range snapshot.Kinds {
		kind.Drop(&m.objects, func(o snapshot.Object) bool {
			hook := o.GetAnnotations()["helm.sh/hook"]
			out := hook != "" && !installs.MatchString(hook)
			if out {
				m.skipped[kind.Kind+" of Helm's "+hook]++
			}
			return out
		})
		for o := range kind.All(&m.objects) {
			m.add(kind, o)
		}
	}
	m.objects.ReplicaSets = append(m.objects.ReplicaSets, m.sets...)
	m.objects.Pods, m.objects.Jobs, m.objects.CronJobs = nil, nil, nil // the pods of jobs would end at once
}

// add takes note of an object, if it makes pods. A Deployment's ReplicaSet has its name.
func (m *Manifests) add(kind snapshot.Kind, o snapshot.Object) {
	w := &Workload{
		Kind: kind.Kind, Namespace: o.GetNamespace(), Name: cmp.Or(o.GetName(), o.GetGenerateName()), Pods: map[string]string{},
		object: o, template: snapshot.PodTemplate(o),
	}
	owner := metav1.OwnerReference{
		APIVersion: kind.Resource.GroupVersion().String(), Kind: kind.Kind, Name: w.Name, UID: types.UID(w.String()), Controller: ptr.To(true),
	}
	o.SetUID(owner.UID)
	replicas, idle := ptr.To[int32](1), ""
	switch o := o.(type) {
	case *v1.Pod:
		w.template = &v1.PodTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}
	case *appsv1.DaemonSet, *appsv1.ReplicaSet, *v1.ReplicationController, *appsv1.StatefulSet:
	case *appsv1.Deployment:
		if o.Spec.Paused {
			idle = "paused"
			break
		}
		spec := appsv1.ReplicaSetSpec{Replicas: o.Spec.Replicas, Selector: o.Spec.Selector, Template: o.Spec.Template}
		owner.Kind, owner.UID = "ReplicaSet", owner.UID+"'s"
		m.sets = append(m.sets, appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name, UID: owner.UID}, Spec: spec})
	case *batchv1.Job:
		idle, replicas = suspended(o.Spec.Suspend), atOnce(&o.Spec)
	case *batchv1.CronJob:
		job := &o.Spec.JobTemplate.Spec
		idle, replicas = cmp.Or(suspended(o.Spec.Suspend), suspended(job.Suspend)), atOnce(job)
		w.template = &job.Template
	default:
		return
	}
	if idle != "" {
		m.skipped[idle+" "+kind.Kind]++
		m.kinds[idle+" "+kind.Kind]++
		m.kinds[kind.Kind]--
		if m.kinds[kind.Kind] == 0 {
			delete(m.kinds, kind.Kind)
		}
		return
	}
	if w.template == nil { // only a ReplicationController may lack it
		return
	}
	given := replicasOf(o)
	if given != nil {
		replicas = *given
	}
	w.replicas, w.owner = int(ptr.Deref(replicas, 1)), owner
	m.workloads = append(m.workloads, w)
}

func suspended(is *bool) string {
	if ptr.Deref(is, false) {
		return "suspended"
	}
	return ""
}

// replicasOf is the field of an object with its number of replicas, or nil if its kind has none.
func replicasOf(o snapshot.Object) **int32 {
	switch o := o.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Replicas
	case *appsv1.ReplicaSet:
		return &o.Spec.Replicas
	case *appsv1.StatefulSet:
		return &o.Spec.Replicas
	case *v1.ReplicationController:
		return &o.Spec.Replicas
	}
	return nil
}

func atOnce(job *batchv1.JobSpec) *int32 {
	parallel := ptr.Deref(job.Parallelism, 1)
	return ptr.To(min(parallel, ptr.Deref(job.Completions, parallel)))
}

// pod is as the controller of a workload would make it, with the claims of its own.
func (w *Workload) pod(at int) (*v1.Pod, []v1.PersistentVolumeClaim) {
	template := w.template.DeepCopy()
	pod := &v1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	if w.Kind != "Pod" || at > 0 || pod.Name == "" {
		pod.Name = strings.TrimSuffix(w.Name, "-") + "-" + strconv.Itoa(at)
	}
	pod.Namespace, pod.UID, pod.OwnerReferences = w.Namespace, "", nil
	if w.owner.Name != "" {
		pod.OwnerReferences = []metav1.OwnerReference{w.owner}
	}
	var claims []v1.PersistentVolumeClaim
	switch o := w.object.(type) {
	case *v1.Pod:
		pod.OwnerReferences = nil
	case *appsv1.DaemonSet:
		pod = cluster.Daemon(o, w.nodes[at])
		pod.OwnerReferences = []metav1.OwnerReference{w.owner}
	case *appsv1.StatefulSet:
		at += int(ptr.Deref(o.Spec.Ordinals, appsv1.StatefulSetOrdinals{}).Start)
		pod.Name = w.Name + "-" + strconv.Itoa(at)
		pod.Labels[appsv1.StatefulSetPodNameLabel], pod.Labels[appsv1.PodIndexLabel] = pod.Name, strconv.Itoa(at)
		for _, claim := range o.Spec.VolumeClaimTemplates {
			volume := v1.Volume{Name: claim.Name}
			claim.Name, claim.Namespace = claim.Name+"-"+pod.Name, pod.Namespace
			volume.PersistentVolumeClaim = &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}
			pod.Spec.Volumes = append(slices.DeleteFunc(pod.Spec.Volumes, func(v v1.Volume) bool { return v.Name == volume.Name }), volume)
			claims = append(claims, claim)
		}
	}
	return pod, claims
}
