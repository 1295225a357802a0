package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// where says which node each pod is on, and whether it runs.
func where(t *testing.T, base string) map[string]string {
	t.Helper()
	_, body := get(t, base+"/api/v1/export")
	var all struct{ Pods []v1.Pod }
	testkit.Must(t, json.Unmarshal([]byte(body), &all))
	on := map[string]string{}
	for _, pod := range all.Pods {
		on[pod.Namespace+"/"+pod.Name] = pod.Spec.NodeName + " " + string(pod.Status.Phase)
	}
	return on
}

func TestSimulatorStartsAsACopyOfAnother(t *testing.T) {
	want := map[string]string{"team/p-0": "kubecon-1 Running", "team/p-1": "cncf-1 Running", "team/p-2": "cncf-1 Running", "team/p-3": " Pending", "team/picky": "kubecon-1 Running", "team/stuck": " Pending"}
	same := func(base string) {
		t.Helper()
		testkit.Eventually(t, "the pods are where they were", func(context.Context) error {
			got := where(t, base)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				return fmt.Errorf("they are on %v", got)
			}
			return nil
		})
	}
	dir := t.TempDir()
	file, nameless, kubeconfig := filepath.Join(dir, "cluster.yaml.gz"), filepath.Join(dir, "nameless.yaml"), filepath.Join(dir, "kubeconfig")
	session(t, []string{"--plugin", "native", "--from", "testdata/dumps/list.yaml", "--data-dir", dir}, func(real string) {
		same(real)
		var said bytes.Buffer
		for _, args := range [][]string{{"--to", file}, {"--to", nameless, "--anonymize"}} {
			code := run(t.Context(), append([]string{"snapshot", "--kubeconfig", kubeconfig}, args...), &said, &said)
			if code != 0 {
				t.Fatalf("snapshot ended with %d: %s", code, &said)
			}
		}
		if !strings.Contains(said.String(), "reads pods, 6\n") || !strings.Contains(said.String(), "2 nodes, 6 pods") {
			t.Errorf("it says %s", &said)
		}
		status, out, errOut := here(t, "compare", "--kubeconfig", kubeconfig, "--a", "none", "--b", "v2", "--pods", "all", "--details")
		if status != statusLost || !regexp.MustCompile(`team/picky +only under A +(kubecon|cncf)-1`).MatchString(out) || !strings.Contains(errOut, "reads pods, 6\n") {
			t.Errorf("status %d: %s %s", status, out, errOut)
		}
		status, out, errOut = here(t, "why", "stuck", "-n", "team", "--kubeconfig", kubeconfig)
		if status != statusLost || !regexp.MustCompile(`^Pod team/stuck is pending because (?s).* didn't match the pod's node name regex "\^tpu-".*on a copy of \S+ \(https://127.0.0.1:\d+\), as it was on .* under native \(default: a kubeconfig does not say what the scheduler has\), `).MatchString(out) {
			t.Errorf("status %d: %s %s", status, out, errOut)
		}
		out = session(t, []string{"--plugin", "native", "--kubeconfig", kubeconfig}, same)
		if !strings.Contains(out, "this is a copy of regex-scheduling (https://127.0.0.1:") {
			t.Errorf("a copy without a file says %s", out)
		}
	})
	r := start(t.Context(), "--plugin", "native", "--from", file)
	base := r.await(t, `page +(http://localhost:\d+)\n[^$]*Ctrl-C`)
	same(base)
	_, status := get(t, base+"/api/v1/status")
	if !strings.Contains(status, `"cluster":"regex-scheduling"`) || !strings.Contains(status, `"file":"cluster.yaml.gz"`) || !strings.Contains(status, `"taken":"20`) {
		t.Errorf("the status is %s", status)
	}
	_, page := get(t, base+"/")
	if !strings.Contains(page, "a copy of <b>regex-scheduling</b>") || !strings.Contains(page, ", as it was on ") {
		t.Errorf("the page does not say whose copy this is: %s", page)
	}
	send(t, "PUT", base+"/api/v1/reset", "", 202)
	same(base)
	send(t, "POST", base+"/api/v1/stop", "", 202)
	code := <-r.done
	if code != 0 || !strings.Contains(r.out.String(), "this is a copy of regex-scheduling") {
		t.Errorf("it ended with %d: %s", code, r.out)
	}
	if !bytes.HasPrefix(testkit.ReadFile(t, file), []byte("\x1f\x8b")) {
		t.Errorf("%s is not compressed", file)
	}
	text := testkit.ReadFile(t, nameless)
	if bytes.Contains(text, []byte("kubecon")) || bytes.Contains(text, []byte("team")) {
		t.Errorf("an anonymous snapshot has %s", text)
	}
}
