// Package snapshot takes what is in a cluster, as far as scheduling depends on it,
// into a file and back: files of ours, of kube-scheduler-simulator and of kubectl are
// read, and their objects are made in another cluster, by what that one calls them.
//
// It knows objects and API servers, and no simulator: what happens to the scheduler
// and its configuration is for the caller.
package snapshot

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
)

// Snapshot is what is in a cluster, as far as scheduling depends on it. Its first
// fields are what kube-scheduler-simulator exports and imports, field by field.
type Snapshot struct {
	// Source says which cluster this is a copy of. Nil is unknown.
	Source *Source `json:"source,omitempty"`

	Pods            []v1.Pod                     `json:"pods"`
	Nodes           []v1.Node                    `json:"nodes"`
	PVs             []v1.PersistentVolume        `json:"pvs"`
	PVCs            []v1.PersistentVolumeClaim   `json:"pvcs"`
	StorageClasses  []storagev1.StorageClass     `json:"storageClasses"`
	PriorityClasses []schedulingv1.PriorityClass `json:"priorityClasses"`
	// SchedulerConfig is a KubeSchedulerConfiguration. Without one the scheduler
	// is left as it is.
	SchedulerConfig json.RawMessage `json:"schedulerConfig"`
	Namespaces      []v1.Namespace  `json:"namespaces"`

	RuntimeClasses         []nodev1.RuntimeClass              `json:"runtimeClasses,omitzero"`
	CSIDrivers             []storagev1.CSIDriver              `json:"csiDrivers,omitzero"`
	CSINodes               []storagev1.CSINode                `json:"csiNodes,omitzero"`
	CSIStorageCapacities   []storagev1.CSIStorageCapacity     `json:"csiStorageCapacities,omitzero"`
	VolumeAttachments      []storagev1.VolumeAttachment       `json:"volumeAttachments,omitzero"`
	PodDisruptionBudgets   []policyv1.PodDisruptionBudget     `json:"podDisruptionBudgets,omitzero"`
	DeviceClasses          []resourcev1.DeviceClass           `json:"deviceClasses,omitzero"`
	ResourceSlices         []resourcev1.ResourceSlice         `json:"resourceSlices,omitzero"`
	ResourceClaimTemplates []resourcev1.ResourceClaimTemplate `json:"resourceClaimTemplates,omitzero"`
	ResourceClaims         []resourcev1.ResourceClaim         `json:"resourceClaims,omitzero"`

	// These own pods, or say which pods belong together.
	Services               []v1.Service               `json:"services,omitzero"`
	Deployments            []appsv1.Deployment        `json:"deployments,omitzero"`
	ReplicaSets            []appsv1.ReplicaSet        `json:"replicaSets,omitzero"`
	ReplicationControllers []v1.ReplicationController `json:"replicationControllers,omitzero"`
	StatefulSets           []appsv1.StatefulSet       `json:"statefulSets,omitzero"`
	DaemonSets             []appsv1.DaemonSet         `json:"daemonSets,omitzero"`
	// ControllerRevisions are the former pod templates of StatefulSets and DaemonSets.
	ControllerRevisions []appsv1.ControllerRevision `json:"controllerRevisions,omitzero"`
	CronJobs            []batchv1.CronJob           `json:"cronJobs,omitzero"`
	Jobs                []batchv1.Job               `json:"jobs,omitzero"`
	PodGroups           []minor.PodGroup            `json:"podGroups,omitzero"`

	// These change or refuse new pods of their namespace.
	LimitRanges    []v1.LimitRange    `json:"limitRanges,omitzero"`
	ResourceQuotas []v1.ResourceQuota `json:"resourceQuotas,omitzero"`
}

func init() {
	if minor.NoPodGroups == "" {
		Kinds = append(Kinds, kindOf("pod group", &minor.PodGroup{})) // still before the pods without a node
	}
}

// Source is where a snapshot is from.
type Source struct {
	// Cluster is what the cluster is called, by the context of a kubeconfig, and
	// Server its address. Both are empty where names were replaced.
	Cluster string `json:"cluster,omitempty"`
	Server  string `json:"server,omitempty"`
	// Version is its Kubernetes version.
	Version string `json:"version,omitempty"`
	// File is what the snapshot was read from, if it was.
	File string `json:"file,omitempty"`
	// Taken is when.
	Taken metav1.Time `json:"taken,omitzero"`
	// NodeSelector is which nodes were asked for, if not all.
	NodeSelector string `json:"nodeSelector,omitempty"`
	Anonymized   bool   `json:"anonymized,omitempty"`
	// Digests says how private text was replaced. Nil: the objects are whole.
	Digests *Digests `json:"digests,omitempty"`
	// Objects is how many there are, so that a file that was cut is noticed.
	Objects int `json:"objects,omitempty"`
	// Lacks is what the files have that was not read, and what is missing in them, in words.
	Lacks []string `json:"-"`
	// Digest is of the documents that were read.
	Digest string `json:"-"`
	// Notes say what the snapshot does not have, or not as the cluster does.
	Notes []Notice `json:"notes,omitempty"`
	// Unlisted are kinds of which the cluster may have objects, and the snapshot has none: they were not requested, or
	// the cluster refused to list them.
	Unlisted []string `json:"unlisted,omitempty"`
	// Within is the namespace of all objects of a kind which were perhaps listed of that one alone, by kind.
	Within map[string]string `json:"-"`
}

// KubectlGet is the command that writes all kinds that scheduling depends on, but those of devices, which not every cluster serves.
const KubectlGet = kubectlGet + fromAll

// KubectlGetDevices is the command for a cluster that has pods with claims for devices.
const KubectlGetDevices = kubectlGet + ",deviceclasses,resourceslices,resourceclaims,resourceclaimtemplates" + fromAll

const (
	kubectlGet = "kubectl get all,no,ns,pc,sc,pv,pvc,pdb,quota,limits,controllerrevisions,csidrivers,csinodes,csistoragecapacities,volumeattachments,runtimeclasses"
	fromAll    = " -A -o json > cluster.json"
)

// Digests is how private text was replaced by digests of it.
type Digests struct {
	// Key is the key of the digests. It is random.
	Key []byte `json:"key"`
	// Annotations are the keys of annotations that were kept, besides Kubernetes' own.
	Annotations []string `json:"annotations,omitempty"`
}

// Name is what to call the source in a few words.
func (s *Source) Name() string { return cmp.Or(s.Cluster, s.File, "a cluster") }

// String says whose copy this is, and of when.
func (s *Source) String() string {
	words := "a copy of " + s.Name()
	if s.Server != "" {
		words += " (" + s.Server + ")"
	}
	if s.NodeSelector != "" {
		words += ", its nodes with " + s.NodeSelector
	}
	if !s.Taken.IsZero() {
		words += ", as it was on " + s.Taken.UTC().Format("2 January 2006 at 15:04 UTC")
	}
	if s.Anonymized {
		words += ", names replaced"
	}
	if len(s.Lacks) > 0 {
		words += " (" + strings.Join(s.Lacks, "; ") + ")"
	}
	return words
}

// Notice is something that is not as one might expect of a snapshot.
type Notice struct {
	// About is what it is about: an object as in "pod team/web", a kind, or the
	// scheduler configuration.
	About  string `json:"about"`
	Reason string `json:"reason"`
}

func (n Notice) String() string { return n.About + ": " + n.Reason }

// ofObject begins an API server's message about an object with the name of that.
var ofObject = regexp.MustCompile(`^\S+ "[^"]*" is (forbidden|invalid): `)

// Reason is why an API server rejects an object, by its message. It is the same for all objects of a cause.
func Reason(message string) string { return ofObject.ReplaceAllString(message, "") }

func sortNotices(notices []Notice) {
	slices.SortStableFunc(notices, func(a, b Notice) int {
		return cmp.Or(strings.Compare(a.About, b.About), strings.Compare(a.Reason, b.Reason))
	})
}

// OneByOne says which pods are scheduled one by one, though they are of a PodGroup: those
// of a snapshot that has none.
func (s *Snapshot) OneByOne() (notices []Notice) {
	pods := map[string]int{}
	for i := range s.Pods {
		group := minor.PodGroupOf(&s.Pods[i])
		if group != "" && len(s.PodGroups) == 0 {
			pods[s.Pods[i].Namespace+"/"+group]++
		}
	}
	for group, n := range pods {
		about := fmt.Sprintf("%d pods of PodGroup %s are scheduled one by one", n, group)
		notices = append(notices, Notice{about, cmp.Or(minor.NoPodGroups, "no PodGroup is with them")})
	}
	sortNotices(notices)
	return notices
}

// Objects is how many objects the snapshot has.
func (s *Snapshot) Objects() (n int) {
	for _, kind := range Kinds {
		n += kind.of(s).Len()
	}
	return n
}

// List reads all that a cluster has and does not bring itself. A list that is empty
// stays a list for readers of kube-scheduler-simulator's fields.
func List(ctx context.Context, from kubernetes.Interface) (*Snapshot, error) {
	out := &Snapshot{}
	for _, kind := range Kinds {
		kind.of(out).Set(reflect.MakeSlice(kind.of(out).Type(), 0, 0))
		err := kind.List(ctx, from, out, metav1.ListOptions{}, func(int) {})
		if err != nil && !apierrors.IsNotFound(err) { // it may serve no PodGroups
			return nil, fmt.Errorf("list %s: %w", kind.Resource.Resource, err)
		}
	}
	out.dropSystems()
	out.CSINodes = slices.DeleteFunc(out.CSINodes, func(n storagev1.CSINode) bool { return len(n.Spec.Drivers)+len(n.Annotations) == 0 }) // of any kubelet
	return out, nil
}

// dropSystems takes out what every cluster brings itself, and what follows from its pods: an attachment counts towards a
// node's limit by the pod that uses its volume, and goes with it.
func (s *Snapshot) dropSystems() {
	s.Namespaces = slices.DeleteFunc(s.Namespaces, func(n v1.Namespace) bool {
		named := n.Labels[v1.LabelMetadataName] != ""
		return slices.Contains(SystemNamespaces, n.Name) && (len(n.Labels) == 0 || named && len(n.Labels) == 1) // or its labels say what is admitted
	})
	s.PriorityClasses = slices.DeleteFunc(s.PriorityClasses, func(c schedulingv1.PriorityClass) bool { return isSystemPriority(c.Name) })
	s.Services = slices.DeleteFunc(s.Services, func(o v1.Service) bool { return o.Name == "kubernetes" })
	if len(s.VolumeAttachments) == 0 {
		return
	}
	used := s.usedVolumes()
	s.VolumeAttachments = slices.DeleteFunc(s.VolumeAttachments, func(a storagev1.VolumeAttachment) bool {
		return used[a.Spec.NodeName+" "+ptr.Deref(a.Spec.Source.PersistentVolumeName, "")]
	})
}

// usedVolumes are nodes with volumes that their pods use.
func (s *Snapshot) usedVolumes() map[string]bool {
	volumes, used := map[string]string{}, map[string]bool{}
	for i := range s.PVCs {
		volumes[qualified(&s.PVCs[i])] = s.PVCs[i].Spec.VolumeName
	}
	for i := range s.Pods {
		pod := &s.Pods[i]
		for _, claim := range ClaimsOf(pod) {
			used[pod.Spec.NodeName+" "+volumes[pod.Namespace+"/"+claim]] = true
		}
	}
	return used
}

// SystemNamespaces are the ones that every cluster has.
var SystemNamespaces = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, v1.NamespaceNodeLease}

func isSystemPriority(name string) bool { return strings.HasPrefix(name, "system-") }

// WriteYAML writes a snapshot for people and [Read]: each object is a document, since the
// YAML of a large cluster takes many times its size while it is made and while it is read.
func (s *Snapshot) WriteYAML(w io.Writer) error {
	out := bufio.NewWriter(w)
	head := map[string]any{}
	if s.Source != nil {
		head["source"] = s.Source
	}
	if s.SchedulerConfig != nil {
		head["schedulerConfig"] = s.SchedulerConfig
	}
	if s.Objects() == 0 {
		head["nodes"] = []v1.Node{} // a file without a document would be empty
	}
	if len(head) > 0 {
		if err := writeDocument(out, head); err != nil {
			return fmt.Errorf("write the source and the configuration: %w", err)
		}
	}
	for _, kind := range Kinds {
		for o := range kind.All(s) {
			object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
			if err == nil {
				status, ok := object["status"].(map[string]any)
				if ok && len(status) == 0 {
					delete(object, "status") // nothing is known of it
				}
				object["apiVersion"] = kind.Resource.GroupVersion().String()
				object["kind"] = kind.Kind
				err = writeDocument(out, object)
			}
			if err != nil {
				return fmt.Errorf("write %s %s: %w", kind.Title, qualified(o), err)
			}
		}
	}
	return out.Flush()
}

func writeDocument(out *bufio.Writer, value any) error {
	text, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "---\n%s", text)
	return err
}
