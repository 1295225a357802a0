//go:build !kubernetes_1_37 && !kubernetes_1_38

package hooks

import (
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// AroundNext calls before and after each time a scheduler takes a pod from its queue.
func AroundNext(sched *scheduler.Scheduler, before func(), after func(string, int)) {
	next := sched.NextPod
	sched.NextPod = func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		before()
		defer after("", 0)
		return next(logger)
	}
}

// NameInformers is of use where metrics show their names.
func NameInformers(*options.Options) error { return nil }

// NewInformers are informers as kube-scheduler has them.
func NewInformers(client kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0)
}

// AroundTryOuts is of use where there are PodGroups.
func AroundTryOuts(profile framework.Framework, _ func(bool)) framework.Framework { return profile }
