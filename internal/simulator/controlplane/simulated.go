package controlplane

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/apiserver/pkg/warning"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// noNetwork refuses all connections of the API server but those to etcd. In a copy of a real
// cluster the addresses of nodes, pods, services and webhooks belong to real machines.
func noNetwork() *egressselector.EgressSelector {
	refuse := func(_ context.Context, _, address string) (net.Conn, error) {
		return nil, fmt.Errorf("%s is not called: the cluster is simulated, and nothing runs behind what its objects name", address)
	}
	return egressselector.NewEgressSelectorWithMap(map[egressselector.EgressType]utilnet.DialFunc{
		egressselector.Cluster: refuse, egressselector.ControlPlane: refuse,
	})
}

// explainSimulation answers, in front of an API server, requests to talk to a pod,
// a node or a service that it is simulated, and warns who makes webhooks. The network of
// noNetwork knows addresses only, and no names of pods.
func explainSimulation(config *genericapiserver.Config, core coreinformers.Interface) {
	build := config.BuildHandlerChainFunc
	there := map[string]cache.Store{
		"pods": core.Pods().Informer().GetStore(), "nodes": core.Nodes().Informer().GetStore(), "services": core.Services().Informer().GetStore(),
	}
	config.BuildHandlerChainFunc = func(next http.Handler, c *genericapiserver.Config) http.Handler {
		return build(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info, _ := request.RequestInfoFrom(r.Context())
			if isWebhook(info) {
				warning.AddWarning(r.Context(), "", "its webhooks are not called: the cluster is simulated, and every request passes as if there were none")
			}
			what := wanted(info, there)
			if what != "" {
				err := &apierrors.StatusError{ErrStatus: metav1.Status{
					Status: metav1.StatusFailure, Code: http.StatusNotImplemented, Reason: "NotImplemented",
					Message: what + " is simulated: nothing runs in it or behind it that could log or answer",
				}}
				responsewriters.ErrorNegotiated(err, legacyscheme.Codecs, corev1.SchemeGroupVersion, w, r)
				return
			}
			next.ServeHTTP(w, r)
		}), c)
	}
}

// wanted is which pod, node or service a request wants to talk to: empty, if it
// wants none that is there. Who asks for what is not there is for others to answer.
func wanted(r *request.RequestInfo, there map[string]cache.Store) string {
	store := there[r.Resource]
	if store == nil || r.APIGroup != corev1.GroupName || !slices.Contains([]string{"attach", "exec", "log", "portforward", "proxy"}, r.Subresource) {
		return ""
	}
	_, name, _, _ := utilnet.SplitSchemeNamePort(r.Name)
	key := cache.NewObjectName(r.Namespace, name).String()
	_, found, _ := store.GetByKey(key)
	if !found {
		return ""
	}
	return strings.TrimSuffix(r.Resource, "s") + " " + key
}

func isWebhook(r *request.RequestInfo) bool {
	return slices.Contains([]string{"create", "update", "patch"}, r.Verb) &&
		slices.Contains([]string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}, r.Resource)
}
