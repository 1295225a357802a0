package command

import (
	"path/filepath"
	"strings"
	"testing"
)

// Questions about clusters as people have them, in testdata/cases, each with the exit status and parts of the answer.
var cases = []struct {
	name, command string
	status        int
	parts         []string
}{
	{
		"privileged containers are admitted, as API servers have it", "fit -f privileged.yaml --cluster two-nodes.yaml",
		0,
		[]string{"4 pods would fit, as far as the input shows.\n", "DaemonSet kube-system/cni: 2 of 2 fit"},
	},
	{"a privileged pod is recreated", "drain n1 --cluster privileged-runs.yaml", 0, []string{"default/csi-1   n1     n2"}},
	{"a projected token goes with the default service account", "fit -f token.yaml --cluster two-nodes.yaml", 0, []string{"1 pod would fit, as far as the input shows.\n"}},
	{"a pod that was debugged is recreated without the debugger", "drain n1 --cluster debugged.yaml", 0, []string{"default/debugged   n1     n2"}},
	{
		"a pod that its kubelet rejects takes no room", "fit -f rejected-by-kubelet.yaml --cluster two-nodes.yaml",
		1,
		[]string{"1 pod would stay pending, as far as the input shows.\n", "the kubelet of n1 rejects it: OutOfcpu", "Pod default/b: 1 of 1 fit"},
	},
	{"shrink leaves the control plane alone", "shrink --cluster control-plane.yaml", 1, []string{"You can remove none of 1 node"}},
	{"shrink leaves MicroK8s' control plane alone", "shrink --cluster microk8s.yaml", 0, []string{"You can remove 1 of 1 node", "microk8s.yaml m2\n"}},
	{"shrink takes nodes of the control plane that are selected", "shrink --cluster control-plane.yaml -l kubernetes.io/hostname=c1", 0, []string{"You can remove 1 of 1 node"}},
}

func TestQuestionsAboutClustersAsPeopleHaveThem(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			args := strings.Fields(c.command)
			for i, arg := range args {
				if strings.HasSuffix(arg, ".yaml") {
					args[i] = filepath.Join("testdata", "cases", arg)
				}
			}
			status, out, errOut := here(t, args...)
			for _, part := range c.parts {
				if status != c.status || !strings.Contains(out, part) {
					t.Fatalf("%s: status %d, not %d, or without %q:\n%s\n%s", c.command, status, c.status, part, out, errOut)
				}
			}
		})
	}
}
