package player

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/record"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
	"wasmkwokwizardry.io/regex-scheduling/simulator/stages"
)

// Server is the API server, as players speak to it.
type Server struct {
	config    *rest.Config
	discovery discovery.CachedDiscoveryInterface
	mapper    meta.RESTMapper
	events    record.EventRecorder

	mu sync.Mutex
	as map[string]dynamic.Interface // by the user who is impersonated
}

// Connect makes a Server for players until ctx is done. config's identity must be
// allowed what the stages do, and to impersonate whom they name.
func Connect(ctx context.Context, config *rest.Config) (*Server, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client of the stages: %w", err)
	}
	known := memory.NewMemCacheClient(client.Discovery())
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&corev1.EventSinkImpl{Interface: client.CoreV1().Events(metav1.NamespaceAll)})
	context.AfterFunc(ctx, broadcaster.Shutdown)
	return &Server{
		config: config, discovery: known, mapper: restmapper.NewDeferredDiscoveryRESTMapper(known),
		events: broadcaster.NewRecorder(scheme.Scheme, v1.EventSource{Component: "stages"}), as: map[string]dynamic.Interface{},
	}, nil
}

// client is one for a user, or for the identity of the configuration.
func (s *Server) client(user string) (dynamic.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if client, ok := s.as[user]; ok {
		return client, nil
	}
	config := rest.CopyConfig(s.config)
	config.Impersonate.UserName = user
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", cmp.Or(user, "the stages"), err)
	}
	s.as[user] = client
	return client, nil
}

// resource is a kind that the API server serves.
type resource struct {
	schema.GroupVersionResource
	kind         schema.GroupVersionKind
	namespaced   bool
	subresources []string
}

// notServed is the error of a kind that the API server does not have.
type notServed struct {
	stages.Ref
	groupServed bool
	meant       string // or empty
}

func (e *notServed) Error() string {
	message := "the API server serves no " + e.Ref.String()
	if e.meant != "" {
		message += ": do you mean " + e.meant + "?"
	}
	return message
}

// mayCome reports whether somebody may define the kind yet: its group is one as
// custom resources have it, and there is nothing in it.
func (e *notServed) mayCome() bool {
	group, _, _ := strings.Cut(e.APIVersion, "/")
	return !e.groupServed && strings.Contains(group, ".")
}

// resolve finds a kind. What is not there is asked for anew each time.
func (s *Server) resolve(of stages.Ref) (*resource, error) {
	gv, err := schema.ParseGroupVersion(of.APIVersion)
	if err != nil {
		return nil, err
	}
	_, lists, err := s.discovery.ServerGroupsAndResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, fmt.Errorf("ask which kinds there are: %w", err)
	}
	missing := &notServed{Ref: of}
	for _, list := range lists {
		if here, _ := schema.ParseGroupVersion(list.GroupVersion); here.Group != gv.Group {
			continue
		}
		missing.groupServed = true
		if found := resourceOf(list, gv.WithKind(of.Kind)); found != nil {
			return found, nil
		}
	}
	s.discovery.Invalidate()
	missing.meant = meant(lists, of)
	return nil, missing
}

// resourceOf finds a kind in a list of those of a group and version.
func resourceOf(list *metav1.APIResourceList, kind schema.GroupVersionKind) *resource {
	if list.GroupVersion != kind.GroupVersion().String() {
		return nil
	}
	var found *resource
	for _, r := range list.APIResources {
		if r.Kind == kind.Kind && !strings.Contains(r.Name, "/") {
			found = &resource{GroupVersionResource: kind.GroupVersion().WithResource(r.Name), kind: kind, namespaced: r.Namespaced}
		}
	}
	for _, r := range list.APIResources {
		if name, sub, ok := strings.Cut(r.Name, "/"); ok && found != nil && name == found.Resource {
			found.subresources = append(found.subresources, sub)
		}
	}
	return found
}

// meant guesses which kind is meant by one that is not there: the same one in
// another group or version, or one that is called almost so.
func meant(lists []*metav1.APIResourceList, of stages.Ref) string {
	var names []string
	for _, list := range lists {
		for _, r := range list.APIResources {
			switch {
			case strings.Contains(r.Name, "/"):
			case r.Kind == of.Kind:
				return "apiGroup: " + list.GroupVersion
			case list.GroupVersion == of.APIVersion:
				names = append(names, r.Kind)
			}
		}
	}
	return yamlcheck.Closest(of.Kind, names)
}
