// Package capture takes a snapshot of a real cluster, with whole objects of the kinds that Kubernetes schedules and recreates
// pods by. It only reads: its client refuses to send anything but a GET.
//
// What is private in them is replaced by package digest, and names are by package anonymize.
package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// Options say which cluster is read, and what of it.
type Options struct {
	// Kubeconfig is a file, Context one of its contexts: empty, the current one.
	Kubeconfig, Context string
	// NodeSelector is a label selector: only these nodes, the pods on them and
	// the pods that have none.
	NodeSelector string
	// Annotations are the keys of annotations that a plugin reads: they stay as they are where others become digests.
	Annotations []string
	// Progress gets how many objects of a kind there are so far. It may be nil.
	Progress func(kind string, objects int)
}

const (
	pageSize = 500
	// patience is how long a cluster may take for a page.
	patience = time.Minute
)

// needed are the kinds without which there is nothing to simulate.
var needed = []string{"nodes", "pods"}

// Read reads a cluster.
func Read(ctx context.Context, o Options) (*snapshot.Snapshot, error) {
	if o.Progress == nil {
		o.Progress = func(string, int) {}
	}
	selector, err := labels.Parse(o.NodeSelector)
	if err != nil {
		return nil, fmt.Errorf("node selector %q: %w", o.NodeSelector, err)
	}
	config, name, err := o.config()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", o.Kubeconfig, err)
	}
	s := &snapshot.Snapshot{Source: &snapshot.Source{
		Cluster: name, Server: printable.URL(config.Host), Taken: metav1.Now().Rfc3339Copy(), NodeSelector: o.NodeSelector,
	}}
	version, err := client.Discovery().ServerVersion()
	if err == nil { // else the lists will say what is wrong
		s.Source.Version = version.GitVersion
	}
	for _, kind := range snapshot.Kinds {
		if err := o.list(ctx, client, kind, s); err != nil {
			return nil, fmt.Errorf("cluster %s: %w", name, err)
		}
	}
	onlyOn(s, selector)
	if !selector.Empty() {
		onlyTheirPods(s)
	}
	// The order in which a scheduler would have met them.
	slices.SortStableFunc(s.Pods, func(a, b v1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	s.Source.Objects = s.Objects()
	return s, nil
}

// Namespace is the kubeconfig context's, or empty.
func (o Options) Namespace() string {
	_, context, err := o.load()
	if err != nil {
		return "" // Read says what is wrong
	}
	return context.Namespace
}

// load reads the kubeconfig.
func (o Options) load() (clientcmd.ClientConfig, *api.Context, error) {
	if err := readfile.Kubeconfig(o.Kubeconfig); err != nil {
		return nil, nil, err
	}
	file, err := (&clientcmd.ClientConfigLoadingRules{ExplicitPath: o.Kubeconfig}).Load()
	if err != nil {
		return nil, nil, fmt.Errorf("kubeconfig: %w", err)
	}
	name := cmp.Or(o.Context, file.CurrentContext)
	context, ok := file.Contexts[name]
	if !ok {
		return nil, nil, fmt.Errorf("kubeconfig %s: there is no context %q in it: it has %q", o.Kubeconfig, name, slices.Sorted(maps.Keys(file.Contexts)))
	}
	return clientcmd.NewNonInteractiveClientConfig(*file, name, &clientcmd.ConfigOverrides{}, nil), context, nil
}

// config is the configuration of a client that only reads, and what the cluster is called.
func (o Options) config() (*rest.Config, string, error) {
	file, context, err := o.load()
	if err != nil {
		return nil, "", err
	}
	config, err := file.ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig %s: %w", o.Kubeconfig, err)
	}
	config.QPS, config.Burst, config.Timeout = 20, 40, patience
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.UserAgent = "regex-scheduling-simulator-snapshot"
	config.WarningHandler = rest.NoWarnings{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readOnly{next} })
	return config, context.Cluster, nil
}

type readOnly struct{ next http.RoundTripper }

func (r readOnly) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet {
		return nil, fmt.Errorf("a snapshot only reads: %s %s is not sent", request.Method, request.URL.Path)
	}
	response, err := r.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = &bounded{response.Body, mostBytes, request.URL.Path}
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	wait := time.Duration(seconds) * time.Second
	if err == nil && wait > patience && response.StatusCode >= http.StatusTooManyRequests { // longer than the client waits for a page, without saying so
		response.Body.Close()
		return nil, fmt.Errorf("the server answers %s, and asks to wait %s: try again then", response.Status, wait)
	}
	return response, nil
}

// mostBytes is of an answer: a page of objects that are as large as etcd takes them has some 750 MB.
const mostBytes = 1 << 30

// bounded ends with an error where an answer does not end.
type bounded struct {
	io.ReadCloser
	left int64
	path string
}

func (b *bounded) Read(into []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(into)
	b.left -= int64(n)
	if b.left < 0 {
		return 0, fmt.Errorf("the server's answer to %s does not end: it has more than %d MiB", b.path, mostBytes>>20)
	}
	return n, err
}

// list reads the objects of a kind, or notes why there are none.
func (o Options) list(ctx context.Context, client kubernetes.Interface, kind snapshot.Kind, into *snapshot.Snapshot) error {
	resource := kind.Resource.Resource
	options := metav1.ListOptions{Limit: pageSize}
	if resource == "nodes" {
		options.LabelSelector = o.NodeSelector
	}
	objects := 0
	err := kind.List(ctx, client, into, options, func(page int) {
		if resource == "pods" {
			page = dropEnded(into, objects)
		}
		objects += page
		o.Progress(resource, objects)
	})
	without := func(reason string) error {
		if slices.Contains(needed, resource) {
			return fmt.Errorf("%s: %s: there is no snapshot without them; the ClusterRole in docs/simulator.md suffices: %w", resource, reason, err)
		}
		into.Source.Notes = append(into.Source.Notes, snapshot.Notice{About: resource, Reason: reason})
		return nil
	}
	switch {
	case apierrors.IsForbidden(err):
		into.Source.Unlisted = append(into.Source.Unlisted, kind.Kind)
		return without("not in the snapshot: the cluster refuses to list them")
	case apierrors.IsNotFound(err) && kind.Kind == "PodGroup": // most clusters do without
	case apierrors.IsNotFound(err):
		return without("not in the snapshot: the cluster does not serve " + kind.Resource.GroupVersion().String())
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("it does not accept the user of the kubeconfig: %w", err)
	case err != nil:
		return fmt.Errorf("list %s: %w", resource, err)
	}
	return nil
}

// dropEnded drops the pods of a page that have ended, and says how many are left of it: they take no room, and a cluster may have more
// of them than of others. One that is held keeps its name from a successor.
func dropEnded(s *snapshot.Snapshot, before int) (left int) {
	page := slices.DeleteFunc(s.Pods[before:], func(p v1.Pod) bool { return podutil.IsPodTerminal(&p) && p.DeletionTimestamp == nil })
	s.Pods = s.Pods[:before+len(page)]
	return len(page)
}

func onlyOn(s *snapshot.Snapshot, selector labels.Selector) {
	if selector.Empty() {
		return
	}
	chosen := map[string]bool{}
	for i := range s.Nodes {
		chosen[s.Nodes[i].Name] = true
	}
	s.Pods = slices.DeleteFunc(s.Pods, func(p v1.Pod) bool { return p.Spec.NodeName != "" && !chosen[p.Spec.NodeName] })
	s.CSINodes = slices.DeleteFunc(s.CSINodes, func(n storagev1.CSINode) bool { return !chosen[n.Name] })
	s.ResourceSlices = slices.DeleteFunc(s.ResourceSlices, func(r resourcev1.ResourceSlice) bool {
		node := ptr.Deref(r.Spec.NodeName, "")
		return node != "" && !chosen[node]
	})
}

// onlyTheirPods keeps controllers from making up for the pods of other nodes: sets
// of replicas are as large as the pods that are here, and deployments and stateful
// sets, which would not accept that, are skipped.
func onlyTheirPods(s *snapshot.Snapshot) {
	pods := map[types.UID]int32{}
	for i := range s.Pods {
		for _, owner := range s.Pods[i].OwnerReferences {
			pods[owner.UID]++
		}
	}
	for _, kind := range []string{"ReplicaSet", "ReplicationController", "DaemonSet", "Job"} {
		snapshot.KindNamed(kind).Drop(s, func(o snapshot.Object) bool { return pods[o.GetUID()] == 0 })
	}
	for i := range s.ReplicaSets {
		s.ReplicaSets[i].Spec.Replicas = ptr.To(pods[s.ReplicaSets[i].UID])
		s.ReplicaSets[i].OwnerReferences = nil
	}
	for i := range s.ReplicationControllers {
		s.ReplicationControllers[i].Spec.Replicas = ptr.To(pods[s.ReplicationControllers[i].UID])
	}
	for i := range s.Jobs {
		s.Jobs[i].Spec.Parallelism = ptr.To(pods[s.Jobs[i].UID])
	}
	if len(s.Deployments)+len(s.StatefulSets) > 0 {
		s.Deployments, s.StatefulSets = nil, nil
		s.Source.Notes = append(s.Source.Notes, snapshot.Notice{
			About: "deployments, statefulsets", Reason: "skipped, since they would recreate the pods that are on other nodes",
		})
	}
}

// AddFlags makes flags of the options. use is what the cluster is read for.
func (o *Options) AddFlags(flags *pflag.FlagSet, use string) {
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig of a "+use)
	flags.StringVar(&o.Context, "context", "", "context of the kubeconfig (default: its current one)")
	flags.StringVar(&o.NodeSelector, "only-nodes", "", "label selector: only these nodes, the pods on them, and pods without a node")
	flags.StringSliceVar(&o.Annotations, "annotation", nil, "key of an annotation that a plugin reads, of which a file gets no digest; may be given more than once")
}

// Check rejects flags about a cluster where none is given.
func (o *Options) Check() error {
	if o.Kubeconfig == "" && (o.Context != "" || o.NodeSelector != "" || len(o.Annotations) > 0) {
		return errors.New("--context, --only-nodes and --annotation are about the cluster of --kubeconfig, and there is none")
	}
	return nil
}
