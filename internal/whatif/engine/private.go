package engine

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/util/workqueue"
	kclock "k8s.io/utils/clock"
)

// What reaches into private fields of Kubernetes' controllers is in this file. TestPrivateFields names the field that
// has moved in another minor.

// fields calls a function with each field of what a pointer leads to, settable.
func fields(of any, call func(name string, field reflect.Value)) {
	v := reflect.ValueOf(of).Elem()
	if v.NumField() == 1 && v.Type().Field(0).Anonymous { // a ReplicationManager is a ReplicaSetController
		v = v.Field(0)
	}
	for i := range v.NumField() {
		field := v.Field(i)
		call(v.Type().Field(i).Name, reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem())
	}
}

// takeQueues puts the engine's queues, and its clock, into a controller in place of its own, and returns the queues.
// Queues of items that are no strings keep theirs.
func takeQueues(controller string, of any, c *clock) (taken []*queue) {
	fields(of, func(name string, field reflect.Value) {
		switch field.Type() {
		case reflect.TypeFor[workqueue.TypedRateLimitingInterface[string]](), reflect.TypeFor[workqueue.TypedDelayingInterface[string]](),
			reflect.TypeFor[workqueue.TypedInterface[string]]():
			q := newQueue(controller+"."+name, c, field.Interface().(workqueue.TypedInterface[string]))
			field.Set(reflect.ValueOf(q))
			taken = append(taken, q)
		case reflect.TypeFor[kclock.PassiveClock](), reflect.TypeFor[kclock.WithTicker](), reflect.TypeFor[kclock.Clock]():
			field.Set(reflect.ValueOf(c))
		}
	})
	return taken
}

// notMonitored lists no nodes.
type notMonitored struct{ corelisters.NodeLister }

var errNotMonitored = errors.New("nodes of a cluster in memory have no kubelets")

// List implements NodeLister.
func (notMonitored) List(labels.Selector) ([]*v1.Node, error) { return nil, errNotMonitored }

// stopMonitoring keeps the node controller from judging nodes by what their kubelets report, which it would do beside the
// engine's loop. What is left are taints of conditions and of cordons.
func stopMonitoring(of any) error {
	found := false
	fields(of, func(name string, field reflect.Value) {
		lister, ok := field.Interface().(corelisters.NodeLister)
		if ok && name == "nodeLister" {
			field.Set(reflect.ValueOf(notMonitored{lister}))
			found = true
		}
	})
	if !found {
		return fmt.Errorf("%T has no field nodeLister", of)
	}
	return nil
}
