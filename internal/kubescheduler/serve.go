package kubescheduler

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname

	"golang.org/x/sync/semaphore"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	"k8s.io/apiserver/pkg/server/flagz"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	schedulerconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"wasmkwokwizardry.io/regex-scheduling/internal/decisions"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
)

// newEndpointsHandler makes the handler of kube-scheduler's own endpoints. No exported function lets
// others add endpoints.
//
//go:linkname newEndpointsHandler k8s.io/kubernetes/cmd/kube-scheduler/app.newEndpointsHandler
func newEndpointsHandler(config *config.KubeSchedulerConfiguration, informers informers.SharedInformerFactory, isLeader func() bool, checks, readyChecks []healthz.HealthChecker, flags flagz.Reader) http.Handler

// ServeDecisions keeps decisions of a scheduler that app.Run will run. It serves them at the scheduler's secure port until
// ctx is done, with all that app.Run serves there. app.Run then serves nothing.
func ServeDecisions(ctx context.Context, cc *schedulerconfig.CompletedConfig, sched *scheduler.Scheduler, bytes int) error {
	serving := cc.SecureServing
	if serving == nil {
		return errors.New("it needs a port, which --secure-port=0 switches off")
	}
	cc.SecureServing = nil
	s := &decisionServer{
		recorder: record(cc.InformerFactory, sched, bytes), may: cc.Authorization.Authorizer.Authorize, since: time.Now(),
		answers: semaphore.NewWeighted(mostAtOnce),
	}
	hooks.AroundNext(sched, func() { s.leads.Store(true) }, func(string, int) {})
	ready := []healthz.HealthChecker{healthz.NewShutdownHealthz(ctx.Done()), synced(ctx, sched)}
	var checks []healthz.HealthChecker
	if cc.LeaderElection != nil {
		s.lock = cc.LeaderElection.Lock
		checks = append(checks, cc.LeaderElection.WatchDog)
		ready = append(ready, cc.LeaderElection.WatchDog)
	}
	others := newEndpointsHandler(&cc.ComponentConfig, cc.InformerFactory, s.leads.Load, checks, ready, cc.Flagz)
	var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, decisions.Path) {
			s.ServeHTTP(w, r)
		} else {
			others.ServeHTTP(w, r)
		}
	})
	resolver := &request.RequestInfoFactory{} // from here on as app.Run does it
	handler = filters.WithAuthorization(handler, cc.Authorization.Authorizer, scheme.Codecs)
	handler = filters.WithAuthentication(handler, withOurTokens(cc.Authentication.Authenticator), filters.Unauthorized(scheme.Codecs), nil, nil)
	handler = filters.WithRequestInfo(handler, resolver)
	handler = filters.WithCacheControl(handler)
	handler = genericfilters.WithHTTPLogging(handler)
	handler = genericfilters.WithPanicRecovery(handler, resolver)
	_, _, err := serving.Serve(handler, 5*time.Second, ctx.Done())
	return err
}

// withOurTokens also accepts tokens for decisions, from requests for decisions alone.
func withOurTokens(known authenticator.Request) authenticator.Request {
	return authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		response, ok, err := known.AuthenticateRequest(r)
		if ok || !strings.HasPrefix(r.URL.Path, decisions.Path) {
			return response, ok, err
		}
		ours := authenticator.WithAudiences(r.Context(), authenticator.Audiences{decisions.Audience})
		return known.AuthenticateRequest(r.WithContext(ours))
	})
}

// synced checks that the scheduler has seen the whole cluster.
func synced(ctx context.Context, sched *scheduler.Scheduler) healthz.HealthChecker {
	var done atomic.Bool
	go func() { done.Store(sched.WaitForHandlersSync(ctx) == nil) }()
	return healthz.NamedCheck("sched-handler-sync", func(*http.Request) error {
		if !done.Load() {
			return errors.New("handlers are not fully synchronized")
		}
		return nil
	})
}

// record has a scheduler keep its attempts in about so many bytes, and count them.
func record(informers informers.SharedInformerFactory, sched *scheduler.Scheduler, bytes int) *recorder.Recorder {
	r := recorder.NewSparse(bytes)
	r.OnEnd = func(result recorder.Result, plugin string) {
		attempts.WithLabelValues(strings.ToLower(string(result)), causeOf(result, plugin)).Inc()
	}
	pending, others := droppedAttempts.WithLabelValues("pending"), droppedAttempts.WithLabelValues("others")
	r.OnDrop = func(ofPending bool) {
		if ofPending {
			pending.Inc()
		} else {
			others.Inc()
		}
	}
	r.Attach(sched, printable.URL)
	_, _ = informers.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(object any) {
		if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = unknown.Obj
		}
		pod, ok := object.(*v1.Pod)
		if ok {
			r.Gone(pod.Namespace, pod.Name)
		}
	}})
	return r
}

// These metrics are at /metrics of a scheduler with --decisions.
var (
	attempts        = newCounter("decisions_attempts_total", "Number of attempts to schedule a pod, by their result and by what rejects most nodes.", "result", "cause")
	droppedAttempts = newCounter("decisions_dropped_total", "Number of attempts that were forgotten for want of memory: last attempts of pending pods, or others.", "of")
)

func newCounter(name, help string, labels ...string) *metrics.CounterVec {
	counter := metrics.NewCounterVec(&metrics.CounterOpts{Subsystem: "scheduler", Name: name, Help: help, StabilityLevel: metrics.ALPHA}, labels)
	legacyregistry.MustRegister(counter)
	return counter
}

// causes are the values of the label cause, by what a plugin's name has in it.
var causes = []struct{ part, cause string }{
	{"Regex", "regex"},
	{"NodeResources", "resources"},
	{"DynamicResources", "resources"},
	{"Affinity", "affinity"},
	{"PodTopologySpread", "affinity"},
	{"NodeName", "affinity"},
	{"Taint", "taints"},
	{"NodeUnschedulable", "taints"},
	{"Volume", "volumes"},
}

// causeOf returns why an attempt found no node, as a value of the label cause.
func causeOf(result recorder.Result, plugin string) string {
	if result == recorder.Scheduled {
		return ""
	}
	for _, c := range causes {
		if strings.Contains(plugin, c.part) {
			return c.cause
		}
	}
	return "other"
}
