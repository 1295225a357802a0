package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

const stageFile = `apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: mark}
spec:
  resourceRef: {apiGroup: v1, kind: Node}
  selector: {}
  steps:
  - patch: {root: metadata, template: 'labels: {marked: by-stage}'}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: idle}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  steps:
  - delete: true
`

func TestStagesAreOfTheProcess(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "import.json", `{"nodes":[{"metadata":{"name":"kubecon-1"}}]}`)
	file := writeFile(t, dir, "stages.yaml", stageFile)
	r := runSimulator(t, "--headless", "--import", cluster, "--stages", file)
	api := r.await(t, `API +(http://localhost:\d+)/api/v1/\n[^$]*Ctrl-C`)
	if want := "simulator: warning: --stages: " + file + ":13: stage idle: spec.selector: is missing"; !strings.Contains(r.out.String(), want) {
		t.Errorf("no %q in %s", want, r.out)
	}
	if want := "fake kubelets: stages of Node (v1): 1, stages of Pod (v1): 1"; !strings.Contains(r.out.String(), want) {
		t.Errorf("no %q in %s", want, r.out)
	}
	marked := func(node string) {
		t.Helper()
		eventually.Succeeds(t, "node "+node+" is marked", func(context.Context) error {
			_, body := get(t, api+"/api/v1/export")
			if !strings.Contains(body, `"name":"`+node+`"`) || strings.Count(body, `"marked":"by-stage"`) != strings.Count(body, `"name":"kubecon-`) {
				return fmt.Errorf("export %s", body)
			}
			return nil
		})
	}
	marked("kubecon-1")
	send(t, "POST", api+"/api/v1/import", `{"nodes":[{"metadata":{"name":"kubecon-2"}}]}`, 200)
	marked("kubecon-2")
	send(t, "PUT", api+"/api/v1/reset", "", 202)
	marked("kubecon-1")
	send(t, "POST", api+"/api/v1/import", `{"nodes":[{"metadata":{"name":"kubecon-3"}}]}`, 200)
	marked("kubecon-3")
}

func TestStagesThatCannotBeReadStopTheStart(t *testing.T) {
	dir := t.TempDir()
	bad := writeFile(t, dir, "bad.yaml", strings.Replace(stageFile, "selector: {}", "selecter: {}", 1))
	good := writeFile(t, dir, "good.yaml", stageFile)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--stages", filepath.Join(dir, "none.yaml")}, "simulator: --stages: open " + dir + "/none.yaml: no such file or directory\n"},
		{[]string{"--stages", bad}, "simulator: --stages: " + bad + `:6: stage mark: spec.selecter: unknown field: do you mean "selector"?` + "\n"},
		{[]string{"--stages", good, "--stages", good}, "simulator: --stages: 2 mistakes\n  " + good + ":3: stage mark: metadata.name: is the name of the stage of " + good + ":1, too"},
	} {
		out := newOutput()
		if code := run(t.Context(), c.args, out, out); code != 1 || !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("%s: %d, %s\nwant %s", c.args, code, out, c.want)
		}
	}
}
