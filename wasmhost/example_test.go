package wasmhost_test

import (
	"context"
	"fmt"
	"log"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/fetch"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// A guest is asked as any other plugin of the framework is.
func ExampleNew() {
	ctx := context.Background()
	host := wasmhost.New(fetch.Fetcher{}.Options())
	defer host.Close()
	args := &runtime.Unknown{Raw: []byte(`{"guestURL": "file://../static/regex_v2.wasm"}`)}
	plugin, err := host.PluginFactory("WasmRegexScheduling")(ctx, args, nil)
	if err != nil {
		log.Fatal(err)
	}

	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"scheduler.wasmkwokwizardry.io/regex": "kubecon-.*"}}}
	state := framework.NewCycleState()
	_, status := plugin.(fwk.PreFilterPlugin).PreFilter(ctx, state, pod, nil)
	if !status.IsSuccess() {
		log.Fatal(status)
	}
	for _, name := range []string{"kubecon-1", "edge-1"} {
		node := framework.NewNodeInfo()
		node.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		status := plugin.(fwk.FilterPlugin).Filter(ctx, state, pod, node)
		fmt.Printf("%s: %s %q\n", name, status.Code(), status.Message())
	}
	// Output:
	// kubecon-1: Success ""
	// edge-1: UnschedulableAndUnresolvable "node(s) didn't match the pod's node name regex \"kubecon-.*\""
}

// Start tells before there is a scheduler whether a guest can be used.
func ExampleHost_Start() {
	host := wasmhost.New(fetch.Fetcher{Timeout: time.Minute}.Options())
	defer host.Close()
	for _, guest := range []string{"regex_v2.wasm", "sources.txt"} {
		started, err := host.Start(context.Background(), "Wasm", wasmhost.Args{GuestURL: "file://../static/" + guest})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println("started", started.Plugin(context.Background(), nil).Name())
	}
	// Output:
	// started Wasm
	// plugin Wasm: guest file://../static/sources.txt: not a Wasm module
}
