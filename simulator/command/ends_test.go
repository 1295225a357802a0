package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestEveryQuestionEnds asks what has once had no answer, or another one tomorrow. Files are in testdata/ends.
func TestEveryQuestionEnds(t *testing.T) {
	const stays = "it stays terminating until its finalizer example.com/deregister is removed"
	for name, tt := range map[string]struct {
		args   string
		status int
		wants  []string // of the report
	}{
		"a DaemonSet's pod without a name": {"fit --cluster ds-generate.yaml -f need3.yaml", 0, []string{"1 pod would fit."}},
		"ordinals far apart":               {"drain --cluster ordinals.yaml n1", statusLost, []string{"2 pods: 0 to another node, 2 unschedulable", "db-1000000   n1     -    cause 1", "\nCause 1, of 2 pods: 0/1 nodes are available"}},
		"a pending pod of an old rollout":  {"fit --cluster pending.yaml -f one.yaml", 0, []string{"1 pod would fit.", "with seed 1. Stopped looking: deployment-controller at default/web, since further looks change nothing. Webhooks"}},
		"a crash-looping pod":              {"fit --cluster crashloop.yaml -f one.yaml", 0, []string{"1 pod would fit.", "Stopped looking: deployment-controller at default/web, since"}},
		"its node, drained":                {"drain --cluster crashloop.yaml n1", statusLost, []string{"1 unschedulable"}},
		"a node search beside it":          {"shrink --cluster crashloop.yaml", statusLost, []string{"Stopped looking: deployment-controller at default/web, since"}},
		"a finalizer": {"drain --cluster finalizer.yaml n1", statusLost, []string{
			"Draining n1 would not end, since pod default/web-5d5c-abcde cannot leave n1: it stays terminating until its finalizer example.com/deregister is removed.\n", "n1     n2   cause 1", "\nCause 1, of 1 pod: it stays terminating until its finalizer example.com/deregister is removed\n  default/web-5d5c-abcde\n",
		}},
		"a finalizer of a pod without owner": {"drain --cluster finalizer-bare.yaml --force n1", statusLost, []string{
			"Draining n1 would not end, since pod default/web cannot leave n1: ",
			"default/web   n1     -    cause 1", "\nCause 1, of 1 pod: it stays terminating until its finalizer example.com/deregister is removed\n",
		}},
		"a finalizer, shrink": {"shrink --cluster finalizer.yaml", 0, []string{
			"You can remove 1 of 2 nodes", "1 node cannot go: it stays terminating until its finalizer example.com/deregister is removed\n  n1 (default/web-5d5c-abcde)",
		}},
		"a finalizer, upgrade": {"upgrade --cluster finalizer.yaml n1", statusLost, []string{
			"The upgrade would replace 0 of 1 node and stop at n1, which pod default/web-5d5c-abcde cannot leave: it stays terminating until its finalizer example.com/deregister is removed.\n",
		}},
		"a Job's own finalizer":                      {"drain --cluster job-tracked.yaml n1", 0, []string{"Draining n1 would move 1 pod, and there is a node for it"}},
		"the same, with an upgrade":                  {"upgrade --cluster job-tracked.yaml n1", 0, []string{"The upgrade would replace all of 1 node"}},
		"the same, on a dead node":                   {"upgrade --cluster job-tracked-dead.yaml n1", 0, []string{"The upgrade would replace all of 1 node, and every pod has a node"}},
		"a finalizer, compare":                       {"compare --pods all --cluster finalizer.yaml --a native --b none", 0, nil},
		"a pod that is being deleted":                {"drain --cluster terminating.yaml n1", statusLost, []string{"Draining n1 would not end, since pod default/gone-1 cannot leave n1: " + stays}},
		"a pod that is being deleted beside fit":     {"fit --cluster terminating.yaml -f one.yaml", 0, []string{"1 pod would fit."}},
		"a pod that is being deleted beside upgrade": {"upgrade --cluster terminating.yaml n1", statusLost, []string{"stop at n1, which pod default/gone-1 cannot leave: " + stays}},
		"a pod that is being deleted beside shrink":  {"shrink --cluster terminating.yaml", 0, []string{"You can remove 1 of 2 nodes", "--cluster=testdata/ends/terminating.yaml n2"}},
		"a pod that is being deleted beside fail":    {"fail --cluster terminating.yaml n1", 0, []string{"If n1 failed, all of 1 pod would be back on other nodes."}},
		"a pod that is being deleted beside compare": {"compare --pods all --cluster terminating.yaml --a native --b none", 0, []string{"Nothing would change if all pods were rescheduled from scratch under none (B) in place of native (A). Applying a configuration moves no running pod.\n", "1 pod on 2 nodes, all rescheduled"}},
		"a node without pods fails":                  {"fail --cluster finalizer.yaml n2", 0, []string{"If n2 failed, no pod would have to move."}},
		"a pod of a Job that is missing":             {"drain --cluster jobpod.yaml n1", 0, []string{"default/batch-x7k2p   n1     n2   \n", "not modelled: Jobs that the cluster's file lacks"}},
		"the same, shrink":                           {"shrink --cluster jobpod.yaml", 0, []string{"You can remove 1 of 2 nodes"}},
		"the same, upgrade":                          {"upgrade --cluster jobpod.yaml n1", 0, []string{"The upgrade would replace all of 1 node"}},
		"the same, compare":                          {"compare --pods all --cluster jobpod.yaml --a native --b none", 0, []string{"Inferred from pods, since the file lacks them: "}},
		"an orphan of a Job":                         {"drain --cluster orphan.yaml --force n1", 0, []string{"n1     n2   \n"}},
		"a Job's pod is preempted":                   {"fit --cluster preempt-job.yaml -f one.yaml", 0, []string{"1 pod would fit."}},
		"a pod is preempted":                         {"fit --cluster preempt-plain.yaml -f one.yaml", 0, []string{"1 pod would fit."}},
		"a dead node": {"drain --cluster two-nodes.yaml n2", statusLost, []string{
			"Draining n2 would not end, since pod default/web-1 cannot leave n2: it stays terminating, since the kubelet of its node does not answer: delete the node", "n2     n1   cause 1", "\nCause 1, of 1 pod: it stays terminating, since the kubelet of its node does not answer: delete the node",
		}},
		"a dead node with a StatefulSet's pod": {"drain --cluster two-nodes-set.yaml n2", statusLost, []string{
			"Draining n2 would not end, since pod default/db-0 cannot leave n2: ",
			"default/db-0   n2     -    cause 1", "\nCause 1, of 1 pod: it stays terminating, and its StatefulSet does not recreate it before it is gone: delete the node",
		}},
		"a dead node, shrink":                           {"shrink --cluster two-nodes.yaml", 0, []string{"You can remove 1 of 2 nodes", "two-nodes.yaml n2\n", "n2     n1   \n"}},
		"a dead node with a StatefulSet's pod, shrink":  {"shrink --cluster two-nodes-set.yaml", 0, []string{"default/db-0   n2     n1   \n"}},
		"a dead node, upgrade":                          {"upgrade --cluster two-nodes.yaml n2", 0, []string{"The upgrade would replace all of 1 node, and every pod has a node"}},
		"a dead node with a StatefulSet's pod, upgrade": {"upgrade --cluster two-nodes-set.yaml n2", 0, []string{"The upgrade would replace all of 1 node, and every pod has a node"}},
		"beside a dead node":                            {"drain --cluster two-nodes.yaml n1", 0, []string{"Draining n1 moves no pod."}},
		"a Job with a deadline":                         {"fit --cluster nodes.yaml -f job-deadline.yaml", 0, []string{"2 pods would fit."}},
		"a CronJob with a deadline":                     {"fit --cluster nodes.yaml -f cron.yaml", 0, []string{"1 pod would fit."}},
		"until full with a workload that is rejected":   {"fit --cluster nodes.yaml -f no-selector.yaml --until-full", statusLost, []string{"0 more replicas would fit.", "The next one would not be created: the API server rejects it: "}},
		"a Job as a person writes it":                   {"drain --cluster job-written.yaml n1", statusLost, []string{"Draining n1 would leave 2 of 2 pods without another node.", "controllers created 1 pod of Job default/j."}},
		"a Job that runs with one":                      {"fit --cluster job-running.yaml -f need3.yaml", statusLost, []string{"1 pod would stay pending"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
			defer cancel()
			ask := func(file func(name string) string) (status int, out, errOut bytes.Buffer) {
				args := strings.Fields(tt.args)
				for i, arg := range args {
					if strings.HasSuffix(arg, ".yaml") {
						args[i] = file(arg)
					}
				}
				status = run(ctx, args, &out, &errOut)
				return status, out, errOut
			}
			status, out, errOut := ask(func(name string) string { return "testdata/ends/" + name })
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			answer := strings.Replace(out.String(), ", as far as the input shows.", ".", 1)
			for _, want := range tt.wants {
				if !strings.Contains(answer, want) {
					t.Errorf("no %q", want)
				}
			}
			folder := t.TempDir()
			_, later, laterErrOut := ask(func(name string) string { return aYearOlder(t, name, folder) })
			got := took.ReplaceAllString(strings.ReplaceAll(later.String(), folder+"/", "testdata/ends/"), "")
			if got != took.ReplaceAllString(out.String(), "") {
				t.Errorf("the same a year later:\n%s%s", got, &laterErrOut)
			}
			if t.Failed() {
				t.Log(tt.args, "\n", &out, &errOut)
			}
		})
	}
}

// aYearOlder copies a file of testdata/ends into a folder. All times in it are a year earlier, as if it was asked about a year later.
func aYearOlder(t *testing.T, name, folder string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/ends/" + name)
	testkit.Must(t, err)
	older := timestamp.ReplaceAllStringFunc(string(text), func(at string) string {
		then, err := time.Parse(time.RFC3339, at)
		testkit.Must(t, err)
		return then.AddDate(-1, 0, 0).Format(time.RFC3339)
	})
	path := filepath.Join(folder, name)
	testkit.Must(t, os.WriteFile(path, []byte(older), 0o600))
	return path
}

var took = regexp.MustCompile(` It took .*`)

var timestamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]+Z`)
