// Package objects makes objects of the API that are as large and as varied as those
// of a real cluster, for tests and benchmarks. The same arguments give the same
// object.
package objects

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var booted = metav1.NewTime(time.Date(2024, 11, 12, 15, 0, 0, 0, time.UTC))

// Node is the i-th node of a cluster as a kubelet and a cloud provider leave it:
// labels, annotations, resources, conditions, addresses and 21 images, 6.2 kB in
// JSON.
func Node(name string, i int) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: uid(i), ResourceVersion: fmt.Sprint(100000 + i), CreationTimestamp: booted,
			Labels: map[string]string{
				"beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux",
				"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "kubernetes.io/hostname": name,
				"node.kubernetes.io/instance-type": "m5.2xlarge",
				"topology.kubernetes.io/region":    "eu-central-1",
				"topology.kubernetes.io/zone":      fmt.Sprintf("eu-central-1%c", 'a'+i%3),
			},
			Annotations: map[string]string{
				"node.alpha.kubernetes.io/ttl":                           "0",
				"volumes.kubernetes.io/controller-managed-attach-detach": "true",
				"csi.volume.kubernetes.io/nodeid":                        fmt.Sprintf(`{"ebs.csi.aws.com":"i-%017x"}`, i),
			},
		},
		Spec: corev1.NodeSpec{
			PodCIDR: fmt.Sprintf("10.%d.%d.0/24", i>>8&255, i&255), ProviderID: fmt.Sprintf("aws:///eu-central-1a/i-%017x", i),
		},
		Status: corev1.NodeStatus{
			Capacity: Resources("8", "32506Mi"), Allocatable: Resources("7910m", "31482Mi"),
			Conditions: conditions(),
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)},
				{Type: corev1.NodeHostName, Address: name},
			},
			NodeInfo: corev1.NodeSystemInfo{
				MachineID: fmt.Sprintf("%032x", i), SystemUUID: string(uid(i)), BootID: string(uid(i + 1)),
				KernelVersion: "6.1.0-28-amd64", OSImage: "Debian GNU/Linux 12 (bookworm)", Architecture: "amd64",
				ContainerRuntimeVersion: "containerd://1.7.24", KubeletVersion: "v1.36.1", OperatingSystem: "linux",
			},
			Images: images(i),
		},
	}
}

// Resources is that much of the processors and of the memory.
func Resources(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse(memory),
	}
}

func random(i int) *rand.Rand { return rand.New(rand.NewPCG(uint64(i), 42)) }

func uid(i int) types.UID {
	r := random(i)
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x",
		r.Uint32(), r.Uint32()&0xffff, r.Uint32()&0xfff, r.Uint32()&0xfff, r.Uint64()&0xffffffffffff))
}

func conditions() []corev1.NodeCondition {
	all := []corev1.NodeCondition{
		{Type: "MemoryPressure", Status: "False", Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"},
		{Type: "DiskPressure", Status: "False", Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"},
		{Type: "PIDPressure", Status: "False", Reason: "KubeletHasSufficientPID", Message: "kubelet has sufficient PID available"},
		{Type: "Ready", Status: "True", Reason: "KubeletReady", Message: "kubelet is posting ready status"},
	}
	for i := range all {
		all[i].LastHeartbeatTime, all[i].LastTransitionTime = booted, booted
	}
	return all
}

func images(i int) []corev1.ContainerImage {
	r := random(i)
	all := make([]corev1.ContainerImage, 21)
	for k := range all {
		repository := fmt.Sprintf("registry.example.com/team-%d/service-%d", r.IntN(20), r.IntN(400))
		all[k] = corev1.ContainerImage{
			Names: []string{
				fmt.Sprintf("%s@sha256:%016x%016x%016x%016x", repository, r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()),
				fmt.Sprintf("%s:v1.%d.%d", repository, r.IntN(30), r.IntN(10)),
			},
			SizeBytes: r.Int64N(1 << 30),
		}
	}
	return all
}

// PlainNode is a node in a zone, with room and with nothing else.
func PlainNode(name, zone, cpu string) corev1.Node {
	room := Resources(cpu, "32Gi")
	room[corev1.ResourcePods] = resource.MustParse("110")
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: zone}},
		Status:     corev1.NodeStatus{Capacity: room, Allocatable: room},
	}
}

// PlainPod is a pod that asks for processors, and has no node.
func PlainPod(name, cpu string) corev1.Pod {
	requests := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/none", Resources: requests}}},
	}
}

// On is a pod that has a node.
func On(pod corev1.Pod, node string) corev1.Pod {
	pod.Spec.NodeName = node
	return pod
}
