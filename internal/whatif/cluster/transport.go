package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

const protobuf = runtime.ContentTypeProtobuf

// transport answers requests to an API server from the cluster. So all that speaks to one
// speaks to it: clients of any kind, and a plugin's own.
type transport struct{ cluster *Cluster }

var requests = &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	answer, err := t.answer(r)
	code := http.StatusOK
	if err != nil {
		status := responsewriters.ErrorToAPIStatus(err)
		answer, code = status, int(status.Code)
	}
	mediaType := runtime.ContentTypeJSON
	if strings.Contains(r.Header.Get("Accept"), protobuf) {
		mediaType = protobuf
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(answer)
	if err != nil {
		return nil, err
	}
	if stored, ok := answer.(Object); ok { // in which the encoder would write the kind
		copied := reflect.New(reflect.TypeOf(stored).Elem())
		copied.Elem().Set(reflect.ValueOf(stored).Elem())
		answer = copied.Interface().(Object)
	}
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	body, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, kinds[0].GroupVersion()), answer)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Request: r,
		Header: http.Header{"Content-Type": {mediaType}}, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}, nil
}

// errNotServed names the verb and the kind.
func (c *Cluster) errNotServed(verb, what string) error {
	c.Unmodelled(verb + " " + what)
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed,
		Message: fmt.Sprintf("cannot %s %s: a cluster in memory does not serve that", verb, what),
	}}
}

func (t transport) answer(r *http.Request) (runtime.Object, error) {
	info, err := requests.NewRequestInfo(r)
	if err != nil {
		return nil, err
	}
	gvr := schema.GroupVersionResource{Group: info.APIGroup, Version: info.APIVersion, Resource: info.Resource}
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	if gvr.Resource == "events" && (info.Verb == "create" || info.Verb == "patch") {
		return scheme.Scheme.New(gvr.GroupVersion().WithKind("Event")) // none is read
	}
	if !info.IsResourceRequest && r.Method == http.MethodGet {
		return t.cluster.resources(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/apis/"), "/api/")), nil
	}
	k := t.cluster.byName[gvr]
	what := strings.Trim(gvr.GroupVersion().String()+" "+gvr.Resource, " ")
	if info.Subresource != "" {
		what += "/" + info.Subresource
	}
	if k == nil {
		return nil, t.cluster.errNotServed(info.Verb, what)
	}
	if info.Subresource == "status" && k.strategies.Status == nil {
		return nil, k.notFound(info.Name)
	}
	switch info.Verb + " " + info.Subresource {
	case "get ", "get status":
		return found(k, info.Namespace, info.Name)
	case "get scale": // which is asked of kinds that have none
		return nil, k.notFound(info.Name)
	case "list ":
		return k.list(info.Namespace, r.URL.Query().Get("labelSelector"), r.URL.Query().Get("fieldSelector"))
	case "patch ", "patch status":
		mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		return t.cluster.patch(r.Context(), k, info, types.PatchType(mediaType), body)
	case "delete ":
		return t.cluster.deleteOne(k, info, body)
	case "create ", "update ", "update status", "create binding", "create eviction":
		return t.cluster.take(r.Context(), k, info, body)
	}
	return nil, t.cluster.errNotServed(info.Verb, what)
}

// resources are the served kinds of a group and version.
func (c *Cluster) resources(groupVersion string) *metav1.APIResourceList {
	list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: groupVersion}
	for _, k := range c.kinds {
		if k.resource.GroupVersion().String() == groupVersion {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: k.resource.Resource, Kind: k.kind.Kind, Namespaced: k.namespaced})
		}
	}
	return list
}

func found(k *kind, namespace, name string) (Object, error) {
	o := k.get(namespace, name)
	if o != nil {
		return o, nil
	}
	return nil, k.notFound(name)
}

// take takes an object of a request's body.
func (c *Cluster) take(ctx context.Context, k *kind, info *request.RequestInfo, body []byte) (runtime.Object, error) {
	decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	switch o := decoded.(type) {
	case *v1.Binding:
		return &metav1.Status{Status: metav1.StatusSuccess}, c.Bind(info.Namespace, info.Name, o.Target.Name)
	case *policyv1.Eviction:
		return &metav1.Status{Status: metav1.StatusSuccess}, c.Evict(info.Namespace, info.Name)
	}
	o, ok := decoded.(Object)
	if !ok || c.of(o) != k {
		return nil, c.errNotServed(info.Verb, fmt.Sprintf("%T", decoded))
	}
	if k.namespaced && o.GetNamespace() == "" {
		o.SetNamespace(info.Namespace)
	}
	if info.Verb == "create" {
		return c.Create(ctx, o)
	}
	return c.update(ctx, o, info.Subresource)
}

func (k *kind) list(namespace, labelled, fielded string) (runtime.Object, error) {
	byLabels, err := labels.Parse(labelled)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	byFields, err := fields.ParseSelector(fielded)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	list, err := scheme.Scheme.New(k.kind.GroupVersion().WithKind(k.kind.Kind + "List"))
	if err != nil {
		return nil, err
	}
	var items []runtime.Object
	for _, one := range k.informer.sorted() {
		o := one.(Object)
		if (namespace == "" || namespace == o.GetNamespace()) && byLabels.Matches(labels.Set(o.GetLabels())) && byFields.Matches(fieldsOf(o)) {
			items = append(items, o)
		}
	}
	return list, meta.SetList(list, items)
}

// fieldsOf are the fields by which something that schedules may select.
func fieldsOf(o Object) fields.Set {
	set := fields.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace()}
	if pod, ok := o.(*v1.Pod); ok {
		set["spec.nodeName"], set["spec.schedulerName"], set["status.phase"] = pod.Spec.NodeName, pod.Spec.SchedulerName, string(pod.Status.Phase)
	}
	return set
}

func (c *Cluster) patch(ctx context.Context, k *kind, info *request.RequestInfo, by types.PatchType, patch []byte) (Object, error) {
	old, err := found(k, info.Namespace, info.Name)
	if err != nil {
		return nil, err
	}
	is, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	switch by {
	case types.StrategicMergePatchType, types.ApplyYAMLPatchType:
		if patch, err = yaml.YAMLToJSON(patch); err == nil {
			is, err = strategicpatch.StrategicMergePatch(is, patch, old)
		}
	case types.MergePatchType:
		is, err = jsonpatch.MergePatch(is, patch)
	default:
		return nil, c.errNotServed("patch by "+string(by), k.resource.Resource)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	patched, err := scheme.Scheme.New(k.kind)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(is, patched); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return c.update(ctx, patched.(Object), info.Subresource)
}

func (c *Cluster) deleteOne(k *kind, info *request.RequestInfo, body []byte) (runtime.Object, error) {
	o, err := found(k, info.Namespace, info.Name)
	if err != nil {
		return nil, err
	}
	options := metav1.DeleteOptions{}
	if len(body) > 0 {
		if err := runtime.DecodeInto(scheme.Codecs.UniversalDeserializer(), body, &options); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	only := options.Preconditions
	if only != nil && only.UID != nil && *only.UID != o.GetUID() {
		return nil, apierrors.NewConflict(k.resource.GroupResource(), o.GetName(), fmt.Errorf("the UID is %s", o.GetUID()))
	}
	c.Delete(o)
	return &metav1.Status{Status: metav1.StatusSuccess}, nil
}
