package plugin_test

import (
	"context"
	"fmt"
	"log"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/plugin"
)

// The args name another annotation.
func ExampleNew() {
	ctx := context.Background()
	made, err := plugin.New(ctx, &runtime.Unknown{Raw: []byte(`{"annotation": "example.com/node-regex"}`)}, nil)
	if err != nil {
		log.Fatal(err)
	}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"example.com/node-regex": "kubecon-.*"}}}
	state := framework.NewCycleState()
	_, status := made.(fwk.PreFilterPlugin).PreFilter(ctx, state, pod, nil)
	if !status.IsSuccess() {
		log.Fatal(status)
	}
	for _, name := range []string{"kubecon-1", "edge-1"} {
		node := framework.NewNodeInfo()
		node.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		fmt.Println(name, made.(fwk.FilterPlugin).Filter(ctx, state, pod, node).Code())
	}
	// Output:
	// kubecon-1 Success
	// edge-1 UnschedulableAndUnresolvable
}

func ExampleNew_mistake() {
	_, err := plugin.New(context.Background(), &runtime.Unknown{Raw: []byte(`{"anotation": "example.com/node-regex"}`)}, nil)
	fmt.Println(err)
	// Output:
	// plugin RegexScheduling: args: unknown field "anotation"; the fields are "annotation", "excludeAnnotation" and "preferAnnotation"
}
