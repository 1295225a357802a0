package regex_test

import (
	"fmt"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func ExamplePolicy_Selector() {
	selector, err := regex.Default.Selector(map[string]string{
		regex.Annotation:        "kubecon-.*",
		regex.ExcludeAnnotation: "-9$",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"kubecon-1", "kubecon-9", "edge-1", "edge-9"} {
		fmt.Printf("%s: %t %q\n", name, selector.Match(name), selector.Reason(selector.Judge(name)))
	}
	// Output:
	// kubecon-1: true ""
	// kubecon-9: false "node(s) matched the pod's node name regex-exclude \"-9$\""
	// edge-1: false "node(s) didn't match the pod's node name regex \"kubecon-.*\""
	// edge-9: false "node(s) didn't match the pod's node name regex \"kubecon-.*\""
}

// The error addresses the author of the annotation.
func ExamplePolicy_Compile() {
	_, err := regex.Default.Compile("kubecon-[0-9")
	fmt.Println(err)
	// Output:
	// annotation scheduler.wasmkwokwizardry.io/regex: missing closing ] "[0-9": "kubecon-[0-9"
}

func ExampleParseConfig() {
	policy, err := regex.ParseConfig([]byte(`{"annotation": "example.com/node-regex"}`))
	fmt.Println(policy.Annotation, policy.ExcludeAnnotation, err)
	// Output:
	// example.com/node-regex scheduler.wasmkwokwizardry.io/regex-exclude <nil>
}

// A cache keeps what patterns compile to, for about so many bytes.
func ExampleCache() {
	cache := regex.NewCache(regex.Default, 1<<20)
	annotations := map[string]string{regex.Annotation: "kubecon-.*"}
	first, _ := cache.Selector(annotations)
	second, _ := cache.Selector(annotations)
	fmt.Println(*first == *second, first.Match("kubecon-1"))
	// Output:
	// true true
}
