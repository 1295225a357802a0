package controllermanager

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/kubernetes/pkg/controller/replication"
	kclock "k8s.io/utils/clock"

	"wasmkwokwizardry.io/regex-scheduling/internal/controllers"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/clock"
)

// made is a controller over an empty cluster.
func made(t *testing.T, one controllers.Controller, now *clock.Clock) any {
	t.Helper()
	c, err := cluster.New(now.Now)
	testkit.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	controller, err := one.Make(ctx, controllers.Access{Client: c.Client, Shared: c.Informers, Mapper: c.Mapper()})
	testkit.Must(t, err)
	return controller
}

func TestTakeHasEachQueueAndNoControllerKeepsTheClockOfTheMachine(t *testing.T) {
	want := map[string]string{
		"deployment-controller":  "queue",
		"replicaset-controller":  "queue",
		"replication-controller": "queue",
		"statefulset-controller": "queue",
		"daemon-set-controller":  "queue nodeUpdateQueue",
		"job-controller":         "queue, 1 of its own",
		"disruption-controller":  "queue recheckQueue stalePodDisruptionQueue",
		"node-controller":        "nodeUpdateQueue",
	}
	for _, one := range slices.Concat(controllers.Workloads, []controllers.Controller{controllers.Disruption, controllers.NodeLifecycle}) {
		if one.Name == "cronjob-controller" {
			continue
		}
		t.Run(one.Name, func(t *testing.T) {
			now := clock.New(time.Unix(1, 0))
			controller := made(t, one, now)
			taken, err := take(one.Name, controller, now)
			testkit.Must(t, err)
			var names []string
			for _, q := range taken.queues {
				names = append(names, strings.TrimPrefix(q.name, one.Name+"."))
			}
			got := strings.Join(names, " ")
			if len(taken.own) > 0 {
				got += fmt.Sprintf(", %d of its own", len(taken.own))
			}
			if got != want[one.Name] {
				t.Errorf("got %q, want %q", got, want[one.Name])
			}
			manager, isCopy := controller.(*replication.ReplicationManager)
			if isCopy {
				controller, err = original(manager)
				testkit.Must(t, err)
			}
			v := reflect.ValueOf(controller).Elem()
			for i := range v.NumField() {
				switch value := reflect.NewAt(v.Field(i).Type(), unsafe.Pointer(v.Field(i).UnsafeAddr())).Interface().(type) {
				case *kclock.PassiveClock:
					if *value != kclock.PassiveClock(now) {
						t.Errorf("%s is %T", v.Type().Field(i).Name, *value)
					}
				case **flowcontrol.Backoff:
					if (*value).Clock != kclock.Clock(now) {
						t.Errorf("%s has clock %T", v.Type().Field(i).Name, (*value).Clock)
					}
				case *workqueue.TypedRateLimitingInterface[string]:
					_, ok := (*value).(*queue)
					if !ok {
						t.Errorf("%s is %T", v.Type().Field(i).Name, *value)
					}
				}
			}
		})
	}
}

func TestTakeFailsWithTheNameOfTheField(t *testing.T) {
	nothing := func(context.Context) {}
	queue := map[string]func(context.Context){"queue": nothing}
	for _, tt := range []struct {
		controller string
		is         parts
		want       string
	}{
		{"deployment-controller", parts{workers: map[string]func(context.Context){"queue": nothing, "later": nothing}}, "deployment.DeploymentController is not as the engine knows it: it has no later"},
		{"deployment-controller", parts{workers: queue, clock: "clock"}, "it has no clock"},
		{"deployment-controller", parts{workers: queue, unused: []string{"podUpdateQueue"}}, "it has no podUpdateQueue"},
		{"deployment-controller", parts{}, "deployment.DeploymentController has a queue queue that the engine does not know"},
		{"job-controller", parts{workers: queue, clock: "clock"}, "job.Controller has a queue orphanQueue that the engine does not know"},
		{"replicaset-controller", parts{workers: queue}, "replicaset.ReplicaSetController has a clock clock that the engine does not know"},
	} {
		at := slices.IndexFunc(controllers.Workloads, func(c controllers.Controller) bool { return c.Name == tt.controller })
		now := clock.New(time.Unix(1, 0))
		_, err := tt.is.take(tt.controller, made(t, controllers.Workloads[at], now), now)
		testkit.ErrorHas(t, err, tt.want)
	}
	_, err := take("another", &struct{}{}, nil)
	testkit.ErrorHas(t, err, "*struct {} is a controller that the engine does not know")
}
