package bench

import (
	"fmt"
	"os"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// readPod reads a pod of two containers with their environment, probes and volumes, and annotations of kubectl and a mesh. It has
// no managed fields: the scheduler drops them.
var readPod = sync.OnceValue(func() *v1.Pod {
	text, err := os.ReadFile("testdata/pod.yaml")
	pod := &v1.Pod{}
	if err == nil {
		err = yaml.UnmarshalStrict(text, pod)
	}
	if err != nil {
		panic(err)
	}
	return pod
})

// pod is pod i of a case.
func (c *kase) pod(i int) *v1.Pod {
	pod := readPod().DeepCopy()
	pod.Name = fmt.Sprintf("web-6c9f7d5b8-%05d", i)
	pod.UID = types.UID(fmt.Sprintf("0b6f2c1d-77aa-4c3e-9a51-%012x", i))
	if !c.plain {
		pod.Annotations[regex.Annotation] = c.pattern
	}
	return c.again(pod)
}
