//go:build kubernetes_1_37 || kubernetes_1_38

package hooks

import (
	"context"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// AroundNext calls before and after each time a scheduler takes a pod from its queue, or
// a PodGroup: after gets namespace and name, and how many of its pods are pending.
func AroundNext(sched *scheduler.Scheduler, before func(), after func(group string, pods int)) {
	next := sched.NextEntity
	sched.NextEntity = func(logger klog.Logger) (entity framework.QueuedEntityInfo, err error) {
		before()
		defer func() { after(podGroup(entity)) }()
		return next(logger)
	}
}

func podGroup(entity framework.QueuedEntityInfo) (name string, pods int) {
	if group, ok := entity.(*framework.QueuedPodGroupInfo); ok {
		return group.GetNamespace() + "/" + group.GetName(), len(pendingPods(group))
	}
	return "", 0
}

// NameInformers gives a scheduler's informers the name that metrics show.
func NameInformers(opts *options.Options) (err error) {
	opts.InformerName, err = cache.NewInformerName("kube-scheduler")
	return err
}

// NewInformers are informers as kube-scheduler has them.
func NewInformers(client kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0, nil)
}

// AroundTryOuts calls with true when no place was found for a PodGroup, before preemption
// tries what would be without some other pods, and with false after that.
func AroundTryOuts(profile framework.Framework, call func(bool)) framework.Framework {
	return &aroundTryOuts{profile, call}
}

type aroundTryOuts struct {
	framework.Framework
	call func(bool)
}

func (p *aroundTryOuts) RunPodGroupPostFilterPlugins(ctx context.Context, state *framework.CycleState, group fwk.PodGroupInfo, try fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	p.call(true)
	defer p.call(false)
	return p.Framework.RunPodGroupPostFilterPlugins(ctx, state, group, try)
}
