package controllermanager

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/replication"
	kclock "k8s.io/utils/clock"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/clock"
)

// What reaches into private fields of Kubernetes' controllers is in this file and in workers.go.

// taken is what was taken from a controller.
type taken struct {
	queues []*queue
	own    []ownQueue // the controller's, whose keys have a private type
}

// ownQueue is a queue that stays a controller's own.
type ownQueue struct {
	workqueue interface {
		Len() int
		ShutDown()
	}
	syncNext func(context.Context)
}

// take puts the manager's queues and clock into a controller in place of its own. It fails if a field is not there, and if there is
// a queue or a clock that [partsOf] does not know.
func take(name string, controller any, c *clock.Clock) (t taken, err error) {
	if manager, ok := controller.(*replication.ReplicationManager); ok {
		controller, err = original(manager)
		if err != nil {
			return t, err
		}
	}
	is := partsOf(controller)
	if is.workers == nil {
		return t, fmt.Errorf("%T is a controller that the engine does not know", controller)
	}
	return is.take(name, controller, c)
}

func (is parts) take(name string, controller any, c *clock.Clock) (t taken, err error) {
	missing := slices.AppendSeq(slices.Clone(is.unused), maps.Keys(is.workers))
	if is.clock != "" {
		missing = append(missing, is.clock)
	}
	v := reflect.ValueOf(controller).Elem()
	for i := range v.NumField() {
		called := v.Type().Field(i).Name
		kind := v.Field(i).Kind()
		if kind != reflect.Interface && kind != reflect.Pointer {
			continue
		}
		field := reflect.NewAt(v.Field(i).Type(), unsafe.Pointer(v.Field(i).UnsafeAddr())).Elem()
		backoff, isBackoff := field.Interface().(*flowcontrol.Backoff)
		own, isQueue := field.Interface().(interface {
			Len() int
			ShutDown()
		})
		switch {
		case isQueue && slices.Contains(is.unused, called):
			own.ShutDown()
		case isQueue && is.workers[called] == nil:
			return t, fmt.Errorf("%T has a queue %s that the engine does not know", controller, called)
		case isQueue:
			before, ok := field.Interface().(workqueue.TypedInterface[string])
			if !ok {
				t.own = append(t.own, ownQueue{own, is.workers[called]})
				break
			}
			before.ShutDown()
			q := newQueue(name+"."+called, c, is.workers[called])
			q.ignoresDelays = is.conditionsOnly
			field.Set(reflect.ValueOf(q))
			t.queues = append(t.queues, q)
		case isBackoff:
			backoff.Clock = c
		case isReal(field):
			if called != is.clock || !reflect.TypeOf(c).AssignableTo(field.Type()) {
				return t, fmt.Errorf("%T has a clock %s that the engine does not know", controller, called)
			}
			field.Set(reflect.ValueOf(c))
		default:
			continue
		}
		missing = slices.DeleteFunc(missing, func(field string) bool { return field == called })
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return t, fmt.Errorf("%T is not as the engine knows it: it has no %s", controller, strings.Join(missing, ", no "))
	}
	return t, nil
}

// isReal says whether a field holds the clock of the machine.
func isReal(field reflect.Value) bool {
	switch field.Interface().(type) {
	case kclock.RealClock, *kclock.RealClock:
		return true
	}
	return false
}

// original is the controller of which a ReplicationManager is a copy. Its handlers and syncs work with the original's queue and
// clock.
func original(manager *replication.ReplicationManager) (*replicaset.ReplicaSetController, error) {
	field := reflect.ValueOf(manager).Elem().FieldByName("syncHandler")
	if field.IsValid() && field.Kind() == reflect.Func && strings.HasSuffix(runtime.FuncForPC(field.Pointer()).Name(), ".(*ReplicaSetController).syncReplicaSet-fm") {
		method := *(**struct {
			code     uintptr
			receiver *replicaset.ReplicaSetController
		})(unsafe.Pointer(field.UnsafeAddr()))
		return method.receiver, nil
	}
	return nil, fmt.Errorf("%T has no method in a field syncHandler", manager)
}
