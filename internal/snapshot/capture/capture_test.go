package capture

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/digest"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestSnapshotIsWholeAndItsFileHasNothingPrivate(t *testing.T) {
	fill(t)
	progress := map[string]int{}
	s, err := Read(t.Context(), Options{Kubeconfig: reader, Progress: func(kind string, n int) { progress[kind] = n }})
	testkit.Must(t, err)
	if len(s.Source.Notes) > 0 {
		t.Errorf("the ClusterRole of the documentation does not suffice: %v", s.Source.Notes)
	}
	if progress["pods"] != 4 || progress["nodes"] != 2 {
		t.Errorf("progress ended with %v", progress)
	}

	web := s.Deployments[0].Spec.Template.Spec.Containers[0]
	if len(web.Env) != 1 || web.Env[0].Value != "hush-template" {
		t.Errorf("a question has of the container %+v", web)
	}
	testkit.Must(t, digest.Snapshot(s, nil))
	var file bytes.Buffer
	testkit.Must(t, s.WriteYAML(&file))
	for line := range strings.Lines(file.String()) {
		if strings.Contains(line, "hush") || strings.Contains(line, "192.0.2.77") || strings.Contains(line, "managedFields") {
			t.Errorf("the snapshot shows %q", line)
		}
	}
	read, notices, err := snapshot.Read(&file)
	if err != nil || len(notices) > 0 {
		t.Fatalf("what is written is read with %v, %v", notices, err)
	}
	for kind, want := range map[string]string{
		"Pod": "team/held team/other team/waiting team/web-1-x", "Node": "cncf-1 kubecon-1", "ReplicaSet": "team/old team/web-1", "Deployment": "team/web",
		"PriorityClass": "high system-cluster-critical system-node-critical", "StorageClass": "fast", "CSINode": "cncf-1 kubecon-1", "CSIDriver": "csi.example.com",
		"CSIStorageCapacity": "team/room", "PersistentVolume": "vol", "PersistentVolumeClaim": "team/data", "RuntimeClass": "sandboxed",
		"DeviceClass": "gpu", "ResourceSlice": "gpus", "ResourceClaimTemplate": "team/gpu", "ResourceClaim": "team/shared",
		"Service": "default/kubernetes team/web", "PodDisruptionBudget": "team/web", "Job": "",
	} {
		got := names(read, kind)
		if got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
	one := read.Pods[slices.IndexFunc(read.Pods, func(p pod) bool { return p.Name == "web-1-x" })]
	c := one.Spec.Containers[0]
	if one.Spec.NodeName != "kubecon-1" || *one.Spec.Priority != 1000 || one.Annotations["scheduler.wasmkwokwizardry.io/regex"] != "kubecon-.*" ||
		c.Resources.Requests.Cpu().String() != "500m" || c.Ports[0].HostPort != 8080 || !slices.ContainsFunc(read.ReplicaSets, func(r replicaSet) bool {
		return len(one.OwnerReferences) == 1 && one.OwnerReferences[0].UID == r.UID
	}) {
		t.Errorf("the pod lacks something: %+v", one)
	}
	node := read.Nodes[slices.IndexFunc(read.Nodes, func(n node) bool { return n.Name == "kubecon-1" })]
	if len(node.Spec.Taints) != 1 || node.Status.Allocatable.Pods().Value() != 110 || len(node.Status.Images) != 2 {
		t.Errorf("the node lacks something: %+v", node)
	}
}

func TestNodeSelectorSkipsWhatBelongsToOtherNodes(t *testing.T) {
	fill(t)
	s, err := Read(t.Context(), Options{Kubeconfig: reader, NodeSelector: "pool=two"})
	testkit.Must(t, err)
	for kind, want := range map[string]string{"Node": "cncf-1", "Pod": "team/other team/waiting", "CSINode": "cncf-1", "ResourceSlice": "", "ReplicaSet": ""} {
		got := names(s, kind)
		if got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

func TestWhatAClusterRefusesIsSaid(t *testing.T) {
	fill(t)
	_, err := Read(t.Context(), Options{Kubeconfig: stranger})
	testkit.ErrorHas(t, err, "nodes: not in the snapshot: the cluster refuses to list them")
	role, err := documentedRole()
	testkit.Must(t, err)
	role.Name, role.GenerateName = "", "without-storage-"
	role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return r.APIGroups[0] == "storage.k8s.io" })
	testkit.Must(t, grant(t.Context(), role, "half"))
	half := filepath.Join(t.TempDir(), "half")
	testkit.Must(t, real.WriteKubeconfig(half, "half"))
	s, err := Read(t.Context(), Options{Kubeconfig: half})
	testkit.Must(t, err)
	var about []string
	for _, note := range s.Source.Notes {
		about = append(about, note.About)
	}
	want := []string{"storageclasses", "csidrivers", "csinodes", "csistoragecapacities", "volumeattachments"}
	if !slices.Equal(about, want) || len(s.Pods) != 4 {
		t.Errorf("got notes on %v, want on %v, and %d pods", about, want, len(s.Pods))
	}
}

func TestBadKubeconfigIsOneLine(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken")
	testkit.Must(t, os.WriteFile(broken, []byte("hello"), 0o600))
	empty := filepath.Join(t.TempDir(), "empty")
	testkit.Must(t, os.WriteFile(empty, nil, 0o600))
	for _, tt := range []struct {
		name string
		o    Options
		want string
	}{
		{"no file", Options{Kubeconfig: "no/such"}, "kubeconfig: stat no/such: no such file or directory"},
		{"no kubeconfig", Options{Kubeconfig: broken}, "kubeconfig: error loading config file \"" + broken},
		{"an empty file", Options{Kubeconfig: empty}, `there is no context "" in it: it has []`},
		{"no such context", Options{Kubeconfig: reader, Context: "prod"}, `there is no context "prod" in it: it has ["regex-scheduling"]`},
		{"a device without an end", Options{Kubeconfig: "/dev/zero"}, "kubeconfig /dev/zero: it has more than 1 MiB"},
		{"no selector", Options{Kubeconfig: reader, NodeSelector: "a in b"}, `node selector "a in b": `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(t.Context(), tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %s", err, tt.want)
			}
		})
	}
}

func TestNothingButReadingIsSent(t *testing.T) {
	config, _, err := Options{Kubeconfig: reader}.config()
	testkit.Must(t, err)
	writer, err := metadata.NewForConfig(config)
	testkit.Must(t, err)
	err = writer.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}).Delete(t.Context(), "any", metav1.DeleteOptions{})
	testkit.ErrorHas(t, err, "a snapshot only reads: DELETE /api/v1/nodes/any is not sent")
}

// names are the names of a kind, in order.
func names(s *snapshot.Snapshot, kindName string) string {
	var all []string
	for o := range snapshot.KindNamed(kindName).All(s) {
		name := o.GetName()
		if o.GetNamespace() != "" {
			name = o.GetNamespace() + "/" + name
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
