package fit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/tools/cache"
	kubectl "k8s.io/kubectl/pkg/util"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/lint"
	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/digest"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Manifests are what may come to a cluster.
type Manifests struct {
	objects   snapshot.Snapshot // what pods depend on
	workloads []*Workload
	kinds     map[string]int // how many objects were read
	skipped   map[string]int // by kind
	unknown   map[string]int // of which it is not known whether they create pods, by kind
	repeated  []string       // that are there more than once, with other contents

	namespace Namespace
	linter    lint.Linter // of their patterns
}

// mostLinted is the size of a file, in bytes, up to which its patterns are looked at: people write no larger ones.
const mostLinted = 4 << 20

// head keeps what is written, as long as it may be linted.
type head struct{ bytes.Buffer }

func (h *head) Write(part []byte) (int, error) {
	if h.Len() <= mostLinted {
		_, _ = h.Buffer.Write(part)
	}
	return len(part), nil
}

// Findings are what is wrong with the patterns in the manifests, of which Kubernetes knows nothing.
func (m *Manifests) Findings() []lint.Finding {
	m.linter.Sort()
	return slices.DeleteFunc(slices.Clone(m.linter.Findings), func(f lint.Finding) bool { return f.Rule == lint.Unread }) // archives are read here
}

// Namespace is where objects go that do not say so, "default" if it is empty. If it is enforced, another one is an error, as of kubectl -n.
type Namespace struct {
	Name     string
	Enforced bool
}

func newManifests(namespace Namespace) *Manifests {
	namespace.Name = cmp.Or(namespace.Name, metav1.NamespaceDefault)
	return &Manifests{namespace: namespace, linter: lint.Linter{Policy: regex.Default}, kinds: map[string]int{}, skipped: map[string]int{}, unknown: map[string]int{}}
}

// Read reads files as kubectl does: those of directories too, and stdin for "-". An error
// is about the first mistake, or says that nothing makes pods.
func Read(paths []string, stdin io.Reader, namespace Namespace) (*Manifests, error) {
	m := newManifests(namespace)
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
	seen := map[string]*unstructured.Unstructured{}
	read := func(name string, text io.Reader) error {
		var written head
		unopened, err := snapshot.Manifests(io.TeeReader(text, &written), func(o *unstructured.Unstructured) error { return m.add(o, seen) })
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, file := range unopened {
			m.skipped[file+irregular]++
		}
		if written.Len() <= mostLinted {
			m.linter.Read(name, written.Bytes())
		}
		return nil
	}
	for _, path := range paths {
		if path == "-" {
			if err := read("the manifests", stdin); err != nil {
				return err
			}
			continue
		}
		info, err := os.Stat(path)
		if err != nil { // a URL, a pattern, or nothing
			files := resource.NewLocalBuilder().Unstructured().Flatten().FilenameParam(false, &resource.FilenameOptions{Filenames: []string{path}})
			err = files.Do().Visit(func(info *resource.Info, err error) error {
				if err == nil {
					err = m.add(info.Object.(*unstructured.Unstructured), seen)
				}
				return err
			})
			if err != nil {
				return err
			}
			continue
		}
		inside := []string{path}
		if info.IsDir() {
			inside, err = m.filesIn(path)
		}
		if err != nil {
			return err
		}
		for _, file := range inside {
			text, err := readfile.All(file)
			if err == nil {
				err = read(file, bytes.NewReader(text))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds an object, unless an equal one was seen.
func (m *Manifests) add(o *unstructured.Unstructured, seen map[string]*unstructured.Unstructured) error {
	gvk := o.GroupVersionKind()
	namespaced := snapshot.IsNamespaced(gvk.GroupKind())
	if namespaced {
		o.SetNamespace(cmp.Or(o.GetNamespace(), m.namespace.Name)) // before it is written as applied: kubectl does so, too
	}
	if m.namespace.Enforced && !snapshot.IsClusterScoped(gvk.Kind) && o.GetNamespace() != "" && o.GetNamespace() != m.namespace.Name {
		return fmt.Errorf("%s %s is in namespace %s, not in %s: leave --namespace out", gvk.Kind, o.GetName(), o.GetNamespace(), m.namespace.Name)
	}
	name := cache.MetaObjectToName(o).String()
	key := gvk.GroupKind().String() + " " + name
	before := seen[key]
	repeated := o.GetName() != "" && before != nil
	if repeated && equality.Semantic.DeepEqual(before.Object, o.Object) {
		return nil
	}
	seen[key] = o.DeepCopy()
	m.kinds[gvk.Kind]++
	if err := kubectl.CreateApplyAnnotation(o, unstructured.UnstructuredJSONScheme); err != nil { // as it was written
		return err
	}
	raw, _ := json.Marshal(o) // which was JSON
	known, err := m.objects.AddManifest(raw)
	switch {
	case err != nil || known && !repeated:
	case known:
		m.repeated = sets.List(sets.New(m.repeated...).Insert(gvk.Kind + " " + name))
	case !repeated:
		err = m.addUnknown(o)
	case len(templates(o.Object, 1)) > 0:
		err = fmt.Errorf("%s %s is there twice, with other contents, and how these are merged is not known: leave one of them out", gvk.Kind, name)
	}
	return err
}

// filesIn are the files of a folder that kubectl reads. What is no regular file may have no end, and is skipped.
func (m *Manifests) filesIn(folder string) (files []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		file := filepath.Join(folder, entry.Name())
		info, err := os.Stat(file) // of what a link leads to, as in a volume of a ConfigMap
		switch {
		case err != nil || info.IsDir() || !slices.Contains(resource.FileExtensions, filepath.Ext(file)):
		case info.Mode().IsRegular():
			files = append(files, file)
		default:
			m.skipped[file+irregular]++
		}
	}
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: there is no regular file in it: recognized file extensions are %s", folder, resource.FileExtensions)
	}
	return files, err
}

const irregular = ", which is no regular file"

// clone is for a run, which changes what it tries.
func (m *Manifests) clone() *Manifests {
	c := &Manifests{objects: *m.objects.DeepCopy(), skipped: m.skipped, unknown: m.unknown, repeated: m.repeated}
	for _, w := range m.workloads {
		copied := *w
		copied.object = w.object.DeepCopyObject().(snapshot.Object)
		copied.earlier = nil
		for _, o := range w.earlier {
			copied.earlier = append(copied.earlier, o.DeepCopyObject().(snapshot.Object))
		}
		c.workloads = append(c.workloads, &copied)
	}
	return c
}

// digest replaces what is private, as it was replaced in the cluster's file.
func (m *Manifests) digest(how *snapshot.Digests) error {
	for _, kind := range snapshot.Kinds {
		for o := range kind.All(&m.objects) {
			if err := digest.Object(o, how); err != nil {
				return fmt.Errorf("%s %s: %w", kind.Title, o.GetName(), err)
			}
		}
	}
	for _, w := range m.workloads {
		for _, o := range append(w.earlier, w.object) {
			if err := digest.Object(o, how); err != nil {
				return fmt.Errorf("%s: %w", w, err)
			}
		}
	}
	return nil
}

// installs are the hooks of Helm that run when a chart comes to a cluster.
var installs = regexp.MustCompile(`(pre|post)-(install|upgrade)`)

// sort finds what makes pods, and skips what does so at another time.
func (m *Manifests) sort() {
	m.objects.Sort()
	for _, kind := range snapshot.Kinds {
		kind.Drop(&m.objects, func(o snapshot.Object) bool {
			hook := o.GetAnnotations()["helm.sh/hook"]
			if hook != "" && !installs.MatchString(hook) {
				m.skipped[kind.Kind+" of Helm's "+hook]++
				return true
			}
			idle := idleness(o)
			if idle != "" {
				m.skipped[idle+" "+kind.Kind]++
				m.workloads = slices.DeleteFunc(m.workloads, func(w *Workload) bool { // the last one of a name counts
					return !w.Unknown && w.Kind == kind.Kind && w.Namespace == o.GetNamespace() && w.object.GetName() == o.GetName() && o.GetName() != ""
				})
				return kind.Kind != "Job" // one that runs loses its pods
			}
			w := newWorkload(kind, o)
			if w == nil {
				return false
			}
			last := len(m.workloads) - 1
			if last >= 0 && o.GetName() != "" && m.workloads[last].String() == w.String() && m.workloads[last].Unknown == w.Unknown {
				if w.Kind != "CronJob" { // whose next Job is of its last template
					w.earlier = append(m.workloads[last].earlier, m.workloads[last].object)
				}
				m.workloads = m.workloads[:last]
			}
			m.workloads = append(m.workloads, w)
			return true
		})
	}
}

// idleness is why an object makes no pods now, or empty.
func idleness(o snapshot.Object) string {
	suspended := func(is *bool) string {
		if ptr.Deref(is, false) {
			return "suspended"
		}
		return ""
	}
	switch o := o.(type) {
	case *batchv1.Job:
		return suspended(o.Spec.Suspend)
	case *batchv1.CronJob:
		return cmp.Or(suspended(o.Spec.Suspend), suspended(o.Spec.JobTemplate.Spec.Suspend))
	}
	return ""
}

// newWorkload is what an object is that makes pods, or nil. A CronJob makes a Job.
func newWorkload(kind snapshot.Kind, o snapshot.Object) *Workload {
	o = o.DeepCopyObject().(snapshot.Object)
	w := &Workload{Kind: kind.Kind, Namespace: o.GetNamespace(), Name: cmp.Or(o.GetName(), o.GetGenerateName()), object: o}
	if cron, ok := o.(*batchv1.CronJob); ok {
		w.object = jobOf(cron)
	}
	if w.podSpec() == nil { // only a ReplicationController may lack it
		return nil
	}
	return w
}

// jobOf is the Job that a CronJob would create.
func jobOf(cron *batchv1.CronJob) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: *cron.Spec.JobTemplate.ObjectMeta.DeepCopy(), Spec: *cron.Spec.JobTemplate.Spec.DeepCopy()}
	job.Namespace, job.Name = cron.Namespace, cron.Name
	cron.UID = types.UID("CronJob " + cron.Name)
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cron, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	return job
}

// podSpec is the pods' spec, or nil.
func (w *Workload) podSpec() *v1.PodSpec {
	pod, ok := w.object.(*v1.Pod)
	if ok {
		return &pod.Spec
	}
	template := snapshot.PodTemplate(w.object)
	if template == nil {
		return nil
	}
	return &template.Spec
}
