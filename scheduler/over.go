package scheduler

import (
	"context"

	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/scheduler"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	"k8s.io/utils/clock"
)

// API is what a scheduler is made over by [New].
type API struct {
	Client    kubernetes.Interface
	Config    *rest.Config // that plugins make clients of their own from
	Informers informers.SharedInformerFactory
	Dynamic   dynamicinformer.DynamicSharedInformerFactory
	Events    profile.RecorderFactory
	Clock     clock.WithTicker
	// Parallelism takes the place of that of the configuration, if it is not zero.
	Parallelism int32
}

// New makes a scheduler over an API that the caller has, and does not run it. Call done
// when it is not used any more. Errors are [Run]'s. A panic of a plugin is handled as there.
func New(ctx context.Context, o Options, api API) (sched *scheduler.Scheduler, done func(), err error) {
	s := o.newSetup()
	defer func() {
		if err != nil {
			s.host.Close()
		}
	}()
	defer Recover(ctx, &err)
	c := o.Config.forUs("")
	if err := s.read(ctx, c); err != nil {
		return nil, nil, err
	}
	config, err := c.Effective()
	if err != nil {
		return nil, nil, err
	}
	plugins := frameworkruntime.Registry{}
	if err := s.register(plugins); err != nil {
		return nil, nil, err
	}
	if api.Parallelism == 0 {
		api.Parallelism = config.Parallelism
	}
	err = withGates(o.Gates, func() error {
		sched, err = scheduler.New(ctx, api.Client, api.Informers, api.Dynamic, api.Events,
			scheduler.WithComponentConfigVersion(config.APIVersion),
			scheduler.WithKubeConfig(api.Config),
			scheduler.WithProfiles(config.Profiles...),
			scheduler.WithPercentageOfNodesToScore(config.PercentageOfNodesToScore),
			scheduler.WithFrameworkOutOfTreeRegistry(plugins),
			scheduler.WithPodMaxBackoffSeconds(config.PodMaxBackoffSeconds),
			scheduler.WithPodInitialBackoffSeconds(config.PodInitialBackoffSeconds),
			scheduler.WithExtenders(config.Extenders...),
			scheduler.WithParallelism(api.Parallelism),
			scheduler.WithClock(api.Clock),
		)
		return err
	})
	if err != nil {
		return nil, nil, c.locate(err, s.rejected)
	}
	catchPanics(sched)
	o.bindHere(ctx, sched, api.Client)
	return sched, func() { _ = sched.Profiles.Close(); s.host.Close() }, nil
}
