package cluster

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// MostPods is what Kubernetes says that a cluster may have.
const MostPods = 150_000

// checkWorkload refuses a workload that no API server stores: its controller would panic over a negative number of replicas, and
// create pods without end where a selector does not match the template. What a file lacks, or an older API server has stored in
// the pods' spec, is no error, but for containers and selectors: pods are validated when they are created. It also refuses more pods than a cluster may have.
func (c *Cluster) checkWorkload(k *kind, o Object) error {
	if snapshot.PodTemplate(o) == nil {
		return nil
	}
	o = o.DeepCopyObject().(Object)
	job, ok := o.(*batchv1.Job)
	if ok {
		job.Spec.ManualSelector = ptr.To(true) // it need not have the Job's UID
	}
	internal, err := legacyscheme.Scheme.ConvertToVersion(o, runtime.InternalGroupVersioner)
	if err != nil {
		return err
	}
	for _, wrong := range k.strategies.Object.Validate(k.request(context.Background(), "create", o), internal) {
		if wrong.Type == field.ErrorTypeRequired && (wrong.Field == "spec.template.spec.containers" || wrong.Field == "spec.selector") {
			return wrong
		}
		if wrong.Type == field.ErrorTypeInvalid && strings.HasPrefix(wrong.Field, "spec.") && !strings.HasPrefix(wrong.Field, "spec.template.spec.") {
			return wrong
		}
	}
	c.wanted[k] += replicasOf(o)
	if c.wanted[k] > MostPods {
		return fmt.Errorf("it wants %d replicas: a cluster of Kubernetes has at most %d pods", replicasOf(o), MostPods)
	}
	return nil
}

// replicasOf is how many pods a workload has at a time; 0 if that depends on nodes.
func replicasOf(o Object) int {
	job, ok := o.(*batchv1.Job)
	if ok {
		return int(min(ptr.Deref(job.Spec.Parallelism, 1), ptr.Deref(job.Spec.Completions, math.MaxInt32)))
	}
	replicas := reflect.ValueOf(specOf(o)).FieldByName("Replicas")
	if !replicas.IsValid() {
		return 0
	}
	return int(ptr.Deref(replicas.Interface().(*int32), 1))
}
