package kubelets

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// A node that is deleted and made again at once meets the status that was just
// being written for its former self.
func TestNodesThatAreRecreatedAreReadyAndHaveRoom(t *testing.T) {
	const nodes, rounds = 60, 3
	name := func(i int) string { return fmt.Sprintf("again-%d", i) }
	for round := range rounds {
		inParallel(nodes, func(i int) {
			for range round { // some live for a moment only
				makeNode(t, name(i))
				deleteNode(t, name(i))
			}
			makeNode(t, name(i))
		})
		for i := range nodes {
			usableNode(t, name(i))
		}
		inParallel(nodes, func(i int) { deleteNode(t, name(i)) })
	}
}

func TestRoomThatIsTakenAwayComesBack(t *testing.T) {
	newNode(t, "emptied")
	for _, patch := range []string{
		`{"status":{"allocatable":null,"capacity":null}}`,
		`{"status":{"allocatable":null}}`,
		`{"status":{"conditions":null}}`,
	} {
		usableNode(t, "emptied")
		patchNodeStatus(t, "emptied", patch)
	}
	usableNode(t, "emptied")
}

func patchNodeStatus(t *testing.T, name, patch string) {
	t.Helper()
	_, err := client.CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	testkit.Must(t, err)
}

func TestPodsOfASilentKubeletStayUntilItReportsAgain(t *testing.T) {
	newNode(t, "silent")
	usableNode(t, "silent")
	patchReady := func(status corev1.ConditionStatus) {
		t.Helper()
		patch := fmt.Sprintf(`{"status":{"allocatable":null,"conditions":[{"type":"Ready","status":%q}]}}`, status)
		patchNodeStatus(t, "silent", patch)
	}
	patchReady(corev1.ConditionUnknown)
	testkit.EventuallyIs(t, "silent", client.CoreV1().Nodes().Get, func(node *corev1.Node) bool {
		return len(node.Status.Allocatable) > 0 // they have filled in what was taken away with it
	})
	makePod(t, "silent", "deaf")
	deletePod(t, "deaf", nil)
	newNode(t, "vocal") // whose kubelet has work after that
	makePod(t, "vocal", "obedient")
	deletePod(t, "obedient", nil)
	noPod(t, "obedient")
	pod, err := client.CoreV1().Pods("default").Get(t.Context(), "deaf", metav1.GetOptions{})
	if err != nil || pod.Status.Phase != corev1.PodPending || pod.DeletionTimestamp == nil {
		t.Fatalf("%v: %+v", err, pod)
	}
	node, err := client.CoreV1().Nodes().Get(t.Context(), "silent", metav1.GetOptions{})
	if err != nil || readyStatus(node) != corev1.ConditionUnknown {
		t.Fatalf("%v: %+v", err, node)
	}
	patchReady(corev1.ConditionTrue)
	noPod(t, "deaf")
}
