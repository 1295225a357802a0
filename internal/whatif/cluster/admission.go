package cluster

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/compatibility"
	feature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install" // for defaults
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/runtimeclass"
	"k8s.io/kubernetes/plugin/pkg/admission/security/podsecurity"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageclass/setdefault"

	"wasmkwokwizardry.io/regex-scheduling/internal/serviceaccount"
)

// Privileged containers are allowed, as the API servers of all common distributions have it (--allow-privileged).
func init() { capabilities.Setup(true, 0) }

// admitting are the admission plugins that decide on what scheduling depends on, in an API
// server's order. The ones that need controllers that are not here are not among them.
var admitting = []struct {
	name     string
	register func(*admission.Plugins)
}{
	{lifecycle.PluginName, lifecycle.Register},
	{limitranger.PluginName, limitranger.Register},
	{serviceaccount.PluginName, serviceaccount.Register},
	{podsecurity.PluginName, podsecurity.Register},
	{priority.PluginName, priority.Register},
	{defaulttolerationseconds.PluginName, defaulttolerationseconds.Register},
	{setdefault.PluginName, setdefault.Register},
	{runtimeclass.PluginName, runtimeclass.Register},
}

// chain is several admission plugins as one.
type chain interface {
	admission.MutationInterface
	admission.ValidationInterface
}

func newAdmission(c *Cluster) (chain, error) {
	plugins := admission.NewPlugins()
	access := initializer.New(c.Client, nil, c.Informers, nil, feature.DefaultFeatureGate, compatibility.DefaultBuildEffectiveVersion(), nil, nil)
	var all []admission.Interface
	for _, one := range admitting {
		one.register(plugins)
		plugin, err := plugins.InitPlugin(one.name, nil, access)
		if err != nil {
			return nil, err
		}
		all = append(all, plugin)
	}
	return admission.NewChainHandler(all...), nil
}

// strategies are what an API server prepares and validates objects by.
var strategies = map[string]rest.RESTCreateStrategy{
	"Pod": pod.Strategy, "Node": node.Strategy, "PersistentVolume": persistentvolume.Strategy,
	"PersistentVolumeClaim": persistentvolumeclaim.Strategy, "ReplicationController": replicationcontroller.Strategy,
	"Deployment": deployment.Strategy, "ReplicaSet": replicaset.Strategy, "StatefulSet": statefulset.Strategy,
	"DaemonSet": daemonset.Strategy, "Job": job.Strategy, "PodDisruptionBudget": poddisruptionbudget.Strategy,
	"PriorityClass": priorityclass.Strategy, "StorageClass": storageclass.Strategy,
}

// Create makes an object as an API server does, and returns it as it is then. No one else
// may have it.
func (c *Cluster) Create(ctx context.Context, o Object) (Object, error) {
	k := c.of(o)
	if k == nil {
		return nil, c.errNotServed("create", fmt.Sprintf("%T", o))
	}
	created, err := c.create(ctx, k, o)
	if err != nil {
		return nil, err
	}
	c.deliver()
	pod, ok := created.(*v1.Pod)
	if ok && pod.Spec.NodeName != "" {
		c.admitByKubelet(pod)
	}
	return created, nil
}

// create delivers no event yet: a handler may create objects, too.
func (c *Cluster) create(ctx context.Context, k *kind, o Object) (Object, error) {
	c.creating.Lock()
	defer c.creating.Unlock()
	c.stamp(o)
	if k.get(o.GetNamespace(), o.GetName()) != nil {
		return nil, apierrors.NewAlreadyExists(k.resource.GroupResource(), o.GetName())
	}
	if pod, ok := o.(*v1.Pod); ok {
		c.inject(pod)
	}
	prepared, err := c.prepare(ctx, k, o)
	if err == nil {
		c.identify(prepared)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.rejected[c.rejectionKey(o)] = err.Error()
		return nil, err
	}
	delete(c.rejected, c.rejectionKey(o))
	c.apply(event{k, nil, prepared})
	return prepared, nil
}

// rejectionKey is by what it is known that an object is rejected: the workload that lacks it then, or else its own name.
func (c *Cluster) rejectionKey(o Object) types.NamespacedName {
	ref := metav1.GetControllerOf(o)
	pod, isPod := o.(*v1.Pod)
	claim, isClaim := o.(*v1.PersistentVolumeClaim)
	switch {
	case ref != nil && isPod:
		return c.workloadName(pod)
	case ref != nil:
		return types.NamespacedName{Namespace: o.GetNamespace(), Name: ref.Kind + " " + ref.Name}
	case isClaim: // which the controller of a StatefulSet creates before the pod
		for _, set := range In[*appsv1.StatefulSet](c, claim.Namespace) {
			for _, template := range set.Spec.VolumeClaimTemplates {
				if strings.HasPrefix(claim.Name, template.Name+"-"+set.Name+"-") {
					return types.NamespacedName{Namespace: claim.Namespace, Name: "StatefulSet " + set.Name}
				}
			}
		}
	}
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: c.of(o).kind.Kind + " " + o.GetName()}
}

// RejectionOf is why an API server rejects what a workload lacks, or empty.
func (c *Cluster) RejectionOf(namespace string, of Workload) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rejected[types.NamespacedName{Namespace: namespace, Name: of.Kind + " " + of.Name}]
}

// IsRejection says whether an API server rejects an object by an error: others are still answered.
func IsRejection(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsNotFound(err)
}

// Replace takes an object in the place of the one of its name, prepared as a new one is.
func (c *Cluster) Replace(ctx context.Context, o Object) (err error) {
	var uid types.UID
	old := c.of(o).get(o.GetNamespace(), o.GetName())
	if old != nil {
		uid = old.GetUID()
	}
	c.stamp(o)
	o, err = c.prepare(ctx, c.of(o), o)
	if err != nil {
		return err
	}
	o.SetUID(uid)
	delete(c.counted, o.GetNamespace()) // where it is counted twice
	c.put(o)
	return nil
}

// prepare does what an API server does to an object before it stores it. Nodes and volumes come with
// a status, as those of a snapshot.
func (c *Cluster) prepare(ctx context.Context, k *kind, o Object) (Object, error) {
	legacyscheme.Scheme.Default(o)
	strategy := strategies[k.kind.Kind]
	if strategy == nil && k.kind.Kind != "PodGroup" { // which some minors have
		return o, nil
	}
	of := o
	internal, err := legacyscheme.Scheme.ConvertToVersion(o, runtime.InternalGroupVersioner)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if err := c.admit(ctx, k, o, internal); err != nil {
		return nil, err
	}
	if strategy == nil {
		return toVersion(internal, k)
	}
	into := internal.(metav1.Object)
	into.SetUID(notYet)
	if err := rest.BeforeCreate(strategy, k.request(ctx, "create", o), internal); err != nil {
		delete(c.counted, o.GetNamespace()) // where it is counted already
		return nil, err
	}
	if o, err = toVersion(internal, k); err != nil {
		return nil, err
	}
	switch o := o.(type) {
	case *v1.Node:
		o.Status = of.(*v1.Node).Status
	case *v1.PersistentVolume:
		o.Status = of.(*v1.PersistentVolume).Status
	}
	return o, nil
}

// request is the context of a request about an object.
func (k *kind) request(ctx context.Context, verb string, o Object) context.Context {
	return request.WithRequestInfo(request.WithNamespace(ctx, o.GetNamespace()), &request.RequestInfo{
		IsResourceRequest: true, Verb: verb, APIGroup: k.resource.Group, APIVersion: k.resource.Version, Resource: k.resource.Resource,
		Namespace: o.GetNamespace(), Name: o.GetName(),
	})
}

func toVersion(internal runtime.Object, k *kind) (Object, error) {
	external, err := legacyscheme.Scheme.ConvertToVersion(internal, k.kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	return external.(Object), nil
}

func (c *Cluster) admit(ctx context.Context, k *kind, o Object, internal runtime.Object) error {
	attributes := admission.NewAttributesRecord(internal, nil, k.kind, o.GetNamespace(), o.GetName(), k.resource, "",
		admission.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "whatif"})
	if err := c.admission.Admit(ctx, attributes, nil); err != nil {
		return err
	}
	if err := c.admission.Validate(ctx, attributes, nil); err != nil {
		return err
	}
	return c.limit(attributes)
}

// Update takes an object in the place of the one of its name. It fails if that has changed
// since it was read, or is gone.
func (c *Cluster) Update(o Object) error {
	k := c.of(o)
	old := k.get(o.GetNamespace(), o.GetName())
	if old == nil {
		return k.notFound(o.GetName())
	}
	version := o.GetResourceVersion()
	if version != "" && version != old.GetResourceVersion() {
		return apierrors.NewConflict(k.resource.GroupResource(), o.GetName(), fmt.Errorf("it has changed since version %s", version))
	}
	o.SetUID(old.GetUID())
	c.carryOver(old, o)
	o.SetResourceVersion(old.GetResourceVersion())
	if apiequality.Semantic.DeepEqual(old, o) {
		return nil // as an API server: no event, for which a controller would come again
	}
	if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		c.drop(old)
		return nil
	}
	c.write(event{k, old, o})
	return nil
}
