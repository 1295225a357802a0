package bench

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// pod is pod i of a case, about 8 KB in protobuf: two containers with their
// environment, probes and volumes, and annotations of kubectl and a mesh. It has no managed
// fields: the scheduler drops them.
func (c *kase) pod(i int) *v1.Pod {
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("web-6c9f7d5b8-%05d", i), Namespace: metav1.NamespaceDefault, UID: types.UID(fmt.Sprintf("0b6f2c1d-77aa-4c3e-9a51-%012x", i)),
			Labels: map[string]string{
				"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": "web-prod",
				"app.kubernetes.io/version": "1.42.0", "pod-template-hash": "6c9f7d5b8",
			},
			Annotations: map[string]string{
				"kubectl.kubernetes.io/last-applied-configuration": lastApplied,
				"prometheus.io/scrape":                             "true",
				"prometheus.io/port":                               "9090",
				"sidecar.example.com/status":                       `{"containers":["proxy"],"volumes":["workload-socket","credential-socket","podinfo"],"revision":"default"}`,
			},
		},
		Spec: v1.PodSpec{
			Containers:  []v1.Container{container("web", 8080), container("proxy", 15090)},
			Tolerations: []v1.Toleration{{Key: v1.TaintNodeNotReady, Operator: v1.TolerationOpExists}, {Key: v1.TaintNodeUnreachable, Operator: v1.TolerationOpExists}},
		},
	}
	for _, name := range volumes {
		source := v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: v1.LocalObjectReference{Name: name}}}
		pod.Spec.Volumes = append(pod.Spec.Volumes, v1.Volume{Name: name, VolumeSource: source})
	}
	if !c.plain {
		pod.Annotations[regex.Annotation] = c.pattern
	}
	return c.again(pod)
}

var volumes = []string{"config", "ca-root-cert", "scratch", "workload-socket"}

// lastApplied stands for the manifest that kubectl apply keeps.
var lastApplied = `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":` +
	strings.Repeat(`{"name":"web","env":[{"name":"SETTING","value":"value"}]},`, 30) + `}}}`

func container(name string, port int32) v1.Container {
	probe := &v1.Probe{
		ProbeHandler:  v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(port)}},
		PeriodSeconds: 10, TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: 3,
	}
	c := v1.Container{
		Name: name, Image: "602401143452.registry.example.com/team-01/" + name + ":v1.42.0",
		Args:  []string{"--listen=:8080", "--log-format=json", "--config=/etc/" + name + "/config.yaml"},
		Ports: []v1.ContainerPort{{Name: "http", ContainerPort: port, Protocol: v1.ProtocolTCP}},
		Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse("10m"), v1.ResourceMemory: resource.MustParse("16Mi"),
		}},
		ReadinessProbe: probe, LivenessProbe: probe,
	}
	for i := range 24 {
		c.Env = append(c.Env, v1.EnvVar{
			Name: fmt.Sprintf("SETTING_%s_%02d", strings.ToUpper(name), i), Value: fmt.Sprintf("https://service-%02d.prod.svc.cluster.local:8443/v1", i),
		})
	}
	for _, volume := range volumes {
		c.VolumeMounts = append(c.VolumeMounts, v1.VolumeMount{Name: volume, MountPath: "/var/run/" + volume, ReadOnly: true})
	}
	return c
}
