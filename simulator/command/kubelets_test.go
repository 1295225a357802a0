package command

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	nodeutil "k8s.io/kubernetes/pkg/util/node"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// becomes waits until all objects of a simulator are as said: true of a node
// that is ready, a phase of a pod, and nothing else.
func becomes(t *testing.T, api, want string) {
	t.Helper()
	eventually.Succeeds(t, want, func(context.Context) error {
		_, body := get(t, api+"/api/v1/export")
		var there struct {
			Nodes []v1.Node
			Pods  []v1.Pod
		}
		if err := json.Unmarshal([]byte(body), &there); err != nil {
			return err
		}
		var all []string
		for i := range there.Nodes {
			all = append(all, fmt.Sprint(there.Nodes[i].Name, " ", nodeutil.IsNodeReady(&there.Nodes[i])))
		}
		for _, pod := range there.Pods {
			all = append(all, fmt.Sprint(pod.Name, " ", pod.Status.Phase))
		}
		if got := strings.Join(all, ", "); got != want {
			return fmt.Errorf("%s", got)
		}
		return nil
	})
}

const oneNode = `{"nodes":[{"metadata":{"name":"kubecon-1"}}]}`

func TestWithoutKubeletsNothingBecomesReady(t *testing.T) {
	printed := session(t, []string{"--kubelets", "none"}, func(base string) {
		send(t, "POST", base+"/api/v1/import", oneNode, 200)
		becomes(t, base, "kubecon-1 false")
	})
	if strings.Contains(printed, "fake kubelets") {
		t.Error(printed)
	}
}

func TestKubeletsAreSimulatedOrNone(t *testing.T) {
	out := newOutput()
	want := `simulator: invalid argument "kwok" for "--kubelets" flag: use simulated or none` + "\n"
	if code := run(t.Context(), []string{"--kubelets", "kwok"}, out, out); code != 2 || out.String() != want {
		t.Errorf("%d, %s\nwant %s", code, out, want)
	}
}
