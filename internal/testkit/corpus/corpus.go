// Package corpus makes the requests that kube-scheduler sends to an extender,
// as large and as varied as those of a real cluster, for tests and benchmarks.
//
// It is deterministic: the same arguments give the same bytes. Nothing that
// runs in production imports it.
package corpus

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
)

// Annotation is the key of the pods' regex, repeated here so that a corpus does
// not change with the code under test.
const Annotation = "scheduler.wasmkwokwizardry.io/regex"

// Full is the body of a request with full nodes, about 6.2 kB each.
func Full(pattern string, nodes int) []byte {
	args := extenderv1.ExtenderArgs{Pod: Pod(pattern), Nodes: &corev1.NodeList{}}
	for i := range nodes {
		args.Nodes.Items = append(args.Nodes.Items, Node(i))
	}
	return marshal(args)
}

// Names is the body of the same request with names only.
func Names(pattern string, nodes int) []byte {
	names := make([]string, nodes)
	for i := range names {
		names[i] = NodeName(i)
	}
	return marshal(extenderv1.ExtenderArgs{Pod: Pod(pattern), NodeNames: &names})
}

func marshal(v any) []byte {
	data, _ := json.Marshal(v) // the types marshal whatever they hold
	return data
}

// NodeName is the name of node i: half of the nodes are named kubecon-…, in an
// irregular order, the other half as a cloud names them.
func NodeName(i int) string {
	if rand.New(rand.NewPCG(uint64(i), 42)).IntN(2) == 0 {
		return "kubecon-" + strconv.Itoa(i)
	}
	return fmt.Sprintf("ip-10-%d-%d-%d.eu-central-1.compute.internal", i>>16, i>>8&255, i&255)
}

// Node is node i.
func Node(i int) corev1.Node { return *objects.Node(NodeName(i), i) }

// Pod is a pending pod with pattern in its annotation, or without the
// annotation if pattern is empty.
func Pod(pattern string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-5d78c9869d-x2x7k", Namespace: "default", ResourceVersion: "184467",
			UID:    types.UID("0b92e4ad-2be2-4b3e-91f3-68ccbc25b3c2"),
			Labels: map[string]string{"app": "web", "pod-template-hash": "5d78c9869d"},
			Annotations: map[string]string{
				"kubectl.kubernetes.io/restartedAt": "2024-11-12T15:00:00Z",
			},
		},
		Spec: corev1.PodSpec{
			SchedulerName: "default-scheduler",
			Containers: []corev1.Container{{
				Name: "web", Image: "registry.k8s.io/nginx-slim:0.27",
				Resources: corev1.ResourceRequirements{Requests: objects.Resources("100m", "128Mi")},
				Env:       []corev1.EnvVar{{Name: "MODE", Value: "production"}},
			}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	if pattern != "" {
		pod.Annotations[Annotation] = pattern
	}
	return pod
}
