package controlplane

import (
	"net"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/controlplane/reconcilers"

	"wasmkwokwizardry.io/regex-scheduling/internal/serviceaccount"
)

// Addresses inside the imagined cluster. Nothing routes them. Package kubelets gives
// pods theirs from another range.
const serviceCIDR = "10.96.0.0/16"

// missingControllers are admission plugins that leave work to what does not run
// here, so that with them objects would hang, or not be made at all.
var missingControllers = []string{
	// Demands a service account in each namespace before a pod may be made
	// there, which a controller creates moments later, and mounts a token into
	// each pod. No container here would read it. Package serviceaccount has the rest of it.
	"ServiceAccount",
	// Taints new nodes not-ready until the node lifecycle controller has seen that they are
	// ready. Without capacity no pod fits a node before that anyway.
	"TaintNodesByCondition",
	// Adds finalizers to volumes and claims that the protection controllers
	// would remove.
	"StorageObjectInUseProtection",
	// Call webhooks, whose servers do not run here. Most say that nothing is made
	// without them.
	"MutatingAdmissionWebhook",
	"ValidatingAdmissionWebhook",
}

func apiServerOptions(ca *authority, etcd string, listener net.Listener) *options.ServerRunOptions {
	s := options.NewServerRunOptions()
	s.Etcd.StorageConfig.Transport.ServerList = []string{etcd}
	s.Etcd.StorageConfig.CompactionInterval = 0 // etcd does it: see revisions

	loopback := net.IPv4(127, 0, 0, 1)
	s.SecureServing.Listener = listener
	s.SecureServing.BindAddress = loopback
	s.SecureServing.ServerCert.CertKey.CertFile = ca.file(servingName + ".crt")
	s.SecureServing.ServerCert.CertKey.KeyFile = ca.file(servingName + ".key")
	s.GenericServerRunOptions.AdvertiseAddress = loopback
	s.GenericServerRunOptions.ExternalHost = loopback.String()
	s.ServiceClusterIPRanges = serviceCIDR
	// Loopback is not a legal endpoint of the "kubernetes" service.
	s.EndpointReconcilerType = string(reconcilers.NoneEndpointReconcilerType)

	s.Authentication.ClientCert.ClientCA = ca.file(caName + ".crt")
	s.Authentication.Anonymous.Allow = false
	s.Authentication.ServiceAccounts.Issuers = []string{"https://kubernetes.default.svc"}
	s.Authentication.ServiceAccounts.KeyFiles = []string{ca.file(accountsKey)}
	s.ServiceAccountSigningKeyFile = ca.file(accountsKey)
	s.Authorization.Modes = []string{"Node", "RBAC"}
	s.Admission.GenericAdmission.DisablePlugins = missingControllers
	serviceaccount.Register(s.Admission.GenericAdmission.Plugins)
	s.Admission.GenericAdmission.RecommendedPluginOrder = append([]string{serviceaccount.PluginName}, s.Admission.GenericAdmission.RecommendedPluginOrder...)
	s.AllowPrivileged = true // as all common distributions have it

	// One user, one machine: no one to be fair between, and simulations come in
	// bursts of thousands of requests.
	s.Features.EnablePriorityAndFairness = false
	s.GenericServerRunOptions.MaxRequestsInFlight = 0
	s.GenericServerRunOptions.MaxMutatingRequestsInFlight = 0
	s.Features.EnableProfiling = false
	// Otherwise the end waits a minute for watches that never finish.
	s.GenericServerRunOptions.ShutdownWatchTerminationGracePeriod = drainTime
	s.EventTTL = time.Hour
	return s
}

// cached are the kinds with a watch cache: those of which there are thousands, and
// which many watch.
var cached = map[schema.GroupResource]bool{
	{Resource: "nodes"}: true,
	{Resource: "pods"}:  true,
}

// fewCaches takes the watch cache from all other kinds, whose requests then go to
// etcd. There are some sixty of them, and each cache has a timer that fires every
// second: without these an idle simulator takes 1.2 to 1.4 % of a core, with them
// 1.9 to 2.0 %. To schedule 5,000 pods on 1,000 nodes takes no more without.
type fewCaches struct {
	generic.RESTOptionsGetter
}

func (f fewCaches) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := f.RESTOptionsGetter.GetRESTOptions(resource, example)
	if !cached[resource] {
		options.Decorator = generic.UndecoratedStorage
	}
	return options, err
}
