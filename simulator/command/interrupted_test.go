package command

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// replicated is a file with a ReplicaSet and its pods, which run. It returns their names.
func replicated(t *testing.T, pods int) (file string, names []string) {
	t.Helper()
	const set = "{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: set, controller: true}"
	text := fmt.Sprintf("replicaSets: [{metadata: {name: web, namespace: default, uid: set}, spec: {replicas: %d, selector: {matchLabels: {app: web}}, "+
		"template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c}]}}}}]\nnodes:\n", pods)
	for i := range 1 + pods/100 {
		text += fmt.Sprintf("- {metadata: {name: n-%d}}\n", i)
	}
	text += "pods:\n"
	for i := range pods {
		text += fmt.Sprintf("- {metadata: {name: web-%d, namespace: default, labels: {app: web}, ownerReferences: [%s]}, spec: {nodeName: n-%d, containers: [{name: c, image: c}]}}\n", i, set, i/100)
		names = append(names, fmt.Sprint("default/web-", i))
	}
	file = writeFile(t, t.TempDir(), "web.yaml", text)
	slices.Sort(names)
	return file, names
}

func TestInterruptedImportIsFinishedBeforeAControllerActs(t *testing.T) {
	file, want := replicated(t, 600)
	dir := t.TempDir()
	args := []string{"--plugin", "native", "--data-dir", dir}
	ctx, kill := context.WithCancel(t.Context())
	r := start(ctx, append(args, "--headless", "--from", file)...)
	r.await(t, `imported (2\d\d) of`)
	kill()
	code := <-r.done
	if code != 1 {
		t.Fatalf("it was over before it was interrupted: %d %s", code, r.out)
	}

	again := start(t.Context(), append(args, "--headless")...)
	code = testkit.EventuallyReceives(t, "it ends", again.done)
	said := "simulator: data directory " + dir + ": an import or a reset was not finished, and controllers would act on the half that is there: "
	if code != 1 || !strings.Contains(again.out.String(), said) {
		t.Errorf("without the file it ended with %d: %s", code, again.out)
	}

	session(t, append(args, "--from", file), func(base string) {
		testkit.Eventually(t, "the simulator has the pods of the file", func(context.Context) error {
			got := slices.Sorted(maps.Keys(where(t, base)))
			if !slices.Equal(got, want) {
				return fmt.Errorf("%d pods, want %d: %.200s …", len(got), len(want), fmt.Sprint(got))
			}
			return nil
		})
	})
	left, _ := filepath.Glob(filepath.Join(dir, "unfinished*"))
	if len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}
