package controlplane

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"

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
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// nowhere is the API server's network, but for etcd. In a copy of a real cluster the
// addresses of nodes, pods, services and webhooks are those of real machines.
func nowhere() *egressselector.EgressSelector {
	refuse := func(_ context.Context, _, address string) (net.Conn, error) {
		return nil, fmt.Errorf("%s is not called: the cluster is simulated, and nothing runs behind what its objects name", address)
	}
	return egressselector.NewEgressSelectorWithMap(map[egressselector.EgressType]utilnet.DialFunc{
		egressselector.Cluster: refuse, egressselector.ControlPlane: refuse,
	})
}

// explainSimulation answers, in front of an API server, requests of which nothing can
// come. The network of nowhere knows addresses only, and no names of pods.
func explainSimulation(config *genericapiserver.Config, core coreinformers.Interface) {
	build := config.BuildHandlerChainFunc
	pods, nodes, services := core.Pods().Lister(), core.Nodes().Lister(), core.Services().Lister()
	config.BuildHandlerChainFunc = func(next http.Handler, c *genericapiserver.Config) http.Handler {
		return build(&explainer{next, pods, nodes, services}, c)
	}
}

// explainer answers whoever wants to talk to a pod, a node or a service that it is
// simulated, and warns who makes webhooks.
type explainer struct {
	next     http.Handler
	pods     corelisters.PodLister
	nodes    corelisters.NodeLister
	services corelisters.ServiceLister
}

func (t *explainer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, ok := request.RequestInfoFrom(r.Context())
	if !ok || !info.IsResourceRequest {
		t.next.ServeHTTP(w, r)
		return
	}
	if isWebhook(info) {
		warning.AddWarning(r.Context(), "", "its webhooks are not called: the cluster is simulated, and every request passes as if there were none")
	}
	what := t.wanted(info)
	if what == "" {
		t.next.ServeHTTP(w, r)
		return
	}
	err := &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotImplemented, Reason: "NotImplemented",
		Message: what + " is simulated: nothing runs in it or behind it that could log or answer",
	}}
	responsewriters.ErrorNegotiated(err, legacyscheme.Codecs, corev1.SchemeGroupVersion, w, r)
}

// wanted is which pod, node or service a request wants to talk to: empty, if it
// wants none that is there. Who asks for what is not there is for others to answer.
func (t *explainer) wanted(r *request.RequestInfo) (what string) {
	if !slices.Contains([]string{"attach", "exec", "log", "portforward", "proxy"}, r.Subresource) {
		return ""
	}
	_, name, _, _ := utilnet.SplitSchemeNamePort(r.Name)
	var err error
	switch r.Resource {
	case "pods":
		_, err = t.pods.Pods(r.Namespace).Get(name)
		what = "pod " + r.Namespace + "/" + name
	case "services":
		_, err = t.services.Services(r.Namespace).Get(name)
		what = "service " + r.Namespace + "/" + name
	case "nodes":
		_, err = t.nodes.Get(name)
		what = "node " + name
	}
	if r.APIGroup != corev1.GroupName || err != nil {
		return ""
	}
	return what
}

// isWebhook is true of requests that make or change a configuration of webhooks.
func isWebhook(r *request.RequestInfo) bool {
	return slices.Contains([]string{"create", "update", "patch"}, r.Verb) &&
		slices.Contains([]string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}, r.Resource)
}
