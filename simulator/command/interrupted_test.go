package command

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// replicated is a file with a ReplicaSet and its pods, which run. It returns their names.
func replicated(t *testing.T, pods int) (file string, names []string) {
	t.Helper()
	const meta = `"namespace":"default","labels":{"app":"web"}`
	var nodes, items []string
	for i := range 1 + pods/100 {
		nodes = append(nodes, fmt.Sprintf(`{"metadata":{"name":"n-%d"}}`, i))
	}
	for i := range pods {
		name := fmt.Sprintf("web-%d", i)
		names = append(names, "default/"+name)
		items = append(items, fmt.Sprintf(`{"metadata":{"name":%q,%s,"uid":"pod-%d","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"set","controller":true}]},
			"spec":{"nodeName":"n-%d","containers":[{"name":"c","image":"c"}]}}`, name, meta, i, i/100))
	}
	text := fmt.Sprintf(`{"nodes":[%s],"replicaSets":[{"metadata":{"name":"web","uid":"set",%s},"spec":{"replicas":%d,"selector":{"matchLabels":{"app":"web"}},
		"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"c"}]}}}}],"pods":[%s]}`,
		strings.Join(nodes, ","), meta, pods, strings.Join(items, ","))
	file = filepath.Join(t.TempDir(), "web.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return file, names
}

func TestInterruptedImportIsFinishedBeforeAControllerActs(t *testing.T) {
	file, want := replicated(t, 600)
	dir := t.TempDir()
	args := []string{"--headless", "--port", "0", "--api-port", "0", "--plugin", "native", "--data-dir", dir}
	ctx, kill := context.WithCancel(t.Context())
	r := running{newOutput(), make(chan int, 1)}
	go func() { r.done <- run(ctx, append(args, "--from", file), r.out, r.out) }()
	r.await(t, `imported (2\d\d) of`)
	kill()
	code := <-r.done
	if code != 1 {
		t.Fatalf("it was over before it was interrupted: %d %s", code, r.out)
	}

	again := newOutput()
	ctx, end := context.WithTimeout(t.Context(), eventually.Patience) // it would run for ever
	defer end()
	said := "simulator: data directory " + dir + ": an import or a reset was not finished, and controllers would act on the half that is there: "
	code = run(ctx, args, again, again)
	if code != 1 || !strings.Contains(again.String(), said) {
		t.Errorf("without the file it ended with %d: %s", code, again)
	}

	session(t, append([]string{"--from", file}, args[7:]...), func(base string) {
		eventually.Succeeds(t, "the simulator has the pods of the file", func(context.Context) error {
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
