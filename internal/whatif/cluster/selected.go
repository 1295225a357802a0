package cluster

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	coreinformers "k8s.io/client-go/informers/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// PodsBySelector is the informer of pods with a lister that keeps what it has listed of a namespace by a selector, until pods change. It
// is for a controller that lists by few selectors again and again.
func (c *Cluster) PodsBySelector() coreinformers.PodInformer {
	return podsBySelector{c.Informers.Core().V1().Pods(), c.of(&v1.Pod{}).informer.table}
}

type podsBySelector struct {
	coreinformers.PodInformer
	table ordered
}

func (p podsBySelector) Lister() corelisters.PodLister {
	return selectedPods{p.PodInformer.Lister(), p.table}
}

type selectedPods struct {
	corelisters.PodLister
	table ordered
}

func (s selectedPods) Pods(namespace string) corelisters.PodNamespaceLister {
	return selectedPodsIn{s.PodLister.Pods(namespace), s.table, namespace}
}

type selectedPodsIn struct {
	corelisters.PodNamespaceLister
	table     ordered
	namespace string
}

func (s selectedPodsIn) List(selector labels.Selector) ([]*v1.Pod, error) {
	has := func(pod any) bool {
		o := pod.(metav1.Object)
		return o.GetNamespace() == s.namespace && selector.Matches(labels.Set(o.GetLabels()))
	}
	all, err := s.table.sorted([2]string{"selector " + s.namespace, SelectorKey(selector)}, 0, has, func() (selected []any, err error) {
		all, err := s.table.Indexer.ByIndex(cache.NamespaceIndex, s.namespace)
		for _, pod := range all {
			if has(pod) {
				selected = append(selected, pod)
			}
		}
		return selected, err
	})
	return typed[*v1.Pod](all), err
}

// SelectorKey is the text of a selector, and another one for each that selects other pods: String is empty both for all and for none.
func SelectorKey(selector labels.Selector) string {
	_, selects := selector.Requirements()
	if !selects {
		return "none"
	}
	return "pods " + selector.String()
}
