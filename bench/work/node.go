package work

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// NodeName is the name of node i: the big clouds' ways to name nodes take turns
// with the one of the talk, so that every pattern finds something to match and
// something to reject.
func NodeName(i int) string {
	n := i / 4
	switch i % 4 {
	case 0:
		return fmt.Sprintf("kubecon-%d", n+1)
	case 1:
		return fmt.Sprintf("gke-prod-pool-%d-%08x-%04x", n%7, (n%7+1)*0x1f3b5c79, 0x1000+n)
	case 2:
		return fmt.Sprintf("aks-nodepool1-31742906-vmss%06x", n)
	}
	return fmt.Sprintf("ip-10-0-%d-%d.eu-west-1.compute.internal", n/256, n%256)
}

// NewNode is node i, about 6 KB in protobuf, Ready, with room for every pod of a
// benchmark, so that what is measured never ends for want of room.
func NewNode(i int) *v1.Node {
	name := NodeName(i)
	room := v1.ResourceList{
		v1.ResourceCPU:              resource.MustParse("1000"),
		v1.ResourceMemory:           resource.MustParse("4000Gi"),
		v1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
		v1.ResourcePods:             resource.MustParse("100000"),
	}
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(fmt.Sprintf("5f0c7a52-9d1e-4a0b-8f7e-%012x", i)),
			Labels: nodeLabels(name, i), Annotations: nodeAnnotations(name),
		},
		Spec: v1.NodeSpec{
			PodCIDR: fmt.Sprintf("10.%d.%d.0/24", 64+i/256, i%256), ProviderID: "example://eu-west-1/" + name,
		},
		Status: v1.NodeStatus{
			Capacity: room, Allocatable: room,
			Conditions: nodeConditions(),
			Addresses: []v1.NodeAddress{
				{Type: v1.NodeInternalIP, Address: fmt.Sprintf("10.0.%d.%d", i/256, i%256)},
				{Type: v1.NodeHostName, Address: name},
				{Type: v1.NodeInternalDNS, Address: name},
			},
			NodeInfo: v1.NodeSystemInfo{
				MachineID: "ec2f1b0e6a7d4c5f9b8a7c6d5e4f3a2b", KernelVersion: "6.1.112-124.190.amzn2023.x86_64",
				OSImage: "Example Linux 2023.6", ContainerRuntimeVersion: "containerd://1.7.23",
				KubeletVersion: "v1.32.5", OperatingSystem: "linux", Architecture: "amd64",
			},
			Images: nodeImages,
		},
	}
}

func nodeLabels(name string, i int) map[string]string {
	zone := "eu-west-1" + string(rune('a'+i%3))
	return map[string]string{
		v1.LabelHostname: name, v1.LabelOSStable: "linux", v1.LabelArchStable: "amd64",
		v1.LabelInstanceTypeStable: "m6i.2xlarge", v1.LabelTopologyRegion: "eu-west-1", v1.LabelTopologyZone: zone,
		"topology.ebs.csi.example.com/zone": zone, "node.example.com/pool": fmt.Sprintf("pool-%d", i%7),
		"node.example.com/lifecycle": "on-demand", "node.example.com/image": "ami-0c1a7f89451184c8b",
	}
}

func nodeAnnotations(name string) map[string]string {
	return map[string]string{
		"csi.volume.kubernetes.io/nodeid":                        `{"ebs.csi.example.com":"` + name + `","efs.csi.example.com":"` + name + `"}`,
		"node.alpha.kubernetes.io/ttl":                           "0",
		"volumes.kubernetes.io/controller-managed-attach-detach": "true",
	}
}

func nodeConditions() []v1.NodeCondition {
	since := metav1.Unix(1_730_000_000, 0)
	quiet := func(kind v1.NodeConditionType, reason, message string) v1.NodeCondition {
		return v1.NodeCondition{
			Type: kind, Status: v1.ConditionFalse, LastHeartbeatTime: since, LastTransitionTime: since,
			Reason: reason, Message: message,
		}
	}
	ready := quiet(v1.NodeReady, "KubeletReady", "kubelet is posting ready status")
	ready.Status = v1.ConditionTrue
	return []v1.NodeCondition{
		quiet(v1.NodeMemoryPressure, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		quiet(v1.NodeDiskPressure, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		quiet(v1.NodePIDPressure, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		ready,
	}
}

// nodeImages are what makes a real node's object big.
var nodeImages = images()

func images() []v1.ContainerImage {
	var images []v1.ContainerImage
	for i := range 18 {
		repository := fmt.Sprintf("602401143452.registry.example.com/team-%02d/service-%02d", i%5, i)
		images = append(images, v1.ContainerImage{
			Names: []string{
				repository + fmt.Sprintf("@sha256:%064x", uint64(i+1)*0x9e3779b97f4a7c15),
				repository + fmt.Sprintf(":v1.%d.0", i),
			},
			SizeBytes: int64(i+1) * 17_000_000,
		})
	}
	return images
}
