package kubescheduler

import (
	"context"
	"slices"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	schedulerconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
)

// livenessPaths are where a kubelet asks whether to start the scheduler again.
var livenessPaths = []string{"/healthz", "/livez"}

// checkHealth makes requests for liveness fail while check does. kube-scheduler
// takes no checks from elsewhere; what it does take is who may ask for what. So
// that question is not answered, but with an error, which is a 500.
func checkHealth(cc *schedulerconfig.CompletedConfig, check func() error) {
	if cc.Authorization.Authorizer != nil {
		cc.Authorization.Authorizer = livenessAuthorizer{cc.Authorization.Authorizer, check}
	}
}

type livenessAuthorizer struct {
	authorizer.Authorizer
	check func() error
}

func (l livenessAuthorizer) Authorize(ctx context.Context, request authorizer.Attributes) (authorizer.Decision, string, error) {
	if slices.Contains(livenessPaths, request.GetPath()) {
		if err := l.check(); err != nil {
			return authorizer.DecisionDeny, "", err
		}
	}
	return l.Authorizer.Authorize(ctx, request)
}
