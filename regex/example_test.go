package regex_test

import (
	"fmt"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func ExamplePolicy_Compile() {
	rules, err := regex.Default.Compile(map[string]string{
		regex.Annotation:        "kubecon-.*",
		regex.ExcludeAnnotation: "-9$",
		regex.PreferAnnotation:  "-1$",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"kubecon-1", "kubecon-9", "edge-1", "edge-9"} {
		verdict := rules.Judge(name)
		fmt.Printf("%s: %t %t %q\n", name, verdict == regex.Qualifies, rules.Prefers(name), rules.Reason(verdict))
	}
	// Output:
	// kubecon-1: true true ""
	// kubecon-9: false false "node(s) matched the pod's node name regex-exclude \"-9$\""
	// edge-1: false true "node(s) didn't match the pod's node name regex \"kubecon-.*\""
	// edge-9: false false "node(s) didn't match the pod's node name regex \"kubecon-.*\""
}

// The error addresses the author of the annotation.
func ExamplePatternError() {
	_, err := regex.Default.Compile(map[string]string{regex.Annotation: "kubecon-[0-9"})
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
	first, _ := cache.Compile(annotations)
	second, _ := cache.Compile(annotations)
	fmt.Println(first == second)
	// Output:
	// true
}
