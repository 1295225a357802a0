package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestCompareReadsResultsOfSides(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "cluster.yaml", comparedCluster)
	a, b, other := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json.gz"), filepath.Join(dir, "other.json")
	for file, args := range map[string][]string{a: {"side", "--config", "none"}, b: {"side", "--config", "v2"}, other: {"side", "--config", "none", "--seed", "2"}} {
		status, out, errOut := here(t, append(args, "--cluster", cluster, "--to", file)...)
		if status != 0 || out != "" || !strings.Contains(errOut, "schedules") {
			t.Fatalf("status %d: %s %s", status, out, errOut)
		}
	}
	status, out, errOut := compareHere(t, a, b, "--details")
	if status != statusLost || !regexp.MustCompile(`(?s)^1 pod would no longer have a node if the scheduler had [^\n]*\n.* A: none +B: v2\n.*default/picky +only under A +node-1`).MatchString(out) || strings.Contains(errOut, "schedules") {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	refused(t, "compare", map[string][]string{
		a + " and " + other + " cannot be compared, since more than the configuration differs: --seed": {a, other},
		a + ": name two results: that of A and that of B":                                              {a},
		"--a cannot be used with results: " + a + " and " + b + " are complete":                        {a, b, "--a", "v2"},
		cluster + `: it is no result of "simulator side", or not all of one`:                           {a, cluster},
		"open " + dir + "/none: no such file or directory":                                             {filepath.Join(dir, "none"), a},
	})
}

func TestCompareRunsOtherPrograms(t *testing.T) {
	self, err := os.Executable()
	testkit.Must(t, err)
	cluster := writeFile(t, t.TempDir(), "cluster.yaml", comparedCluster)
	args := []string{"--cluster", cluster, "--a", "none", "--a-simulator", self, "--b", "v2", "--b-simulator"}
	status, out, errOut := compareHere(t, append(args, self)...)
	if status != statusLost || !strings.Contains(out, "picky") {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	misspelt := writeFile(t, t.TempDir(), "misspelt.yaml", "profiles:\n- schedulername: mine\n")
	refused(t, "compare -q --cluster "+cluster+" --b v2 --a-simulator "+self, map[string][]string{
		`/config.yaml: line 2: profiles[0].schedulername: unknown field: do you mean "schedulerName"?`: {"--a", misspelt},
	})
}

func TestSideReportsMistakesAndWritesNothing(t *testing.T) {
	dir := t.TempDir()
	cluster, empty := writeFile(t, dir, "cluster.yaml", comparedCluster), writeFile(t, dir, "empty.yaml", "")
	file := filepath.Join(dir, "result.json")
	refused(t, "side", map[string][]string{
		"--config is missing; try simulator side --help":  {"--cluster", cluster, "--to", file},
		"--cluster is missing; try simulator side --help": {"--config", "v2", "--to", file},
		"--to is missing; try simulator side --help":      {"--config", "v2", "--cluster", cluster},
		"--cluster " + empty + ": it is empty":            {"--config", "v2", "--cluster", empty, "--to", file},
		"--config " + empty + ": ":                        {"--config", empty, "--cluster", cluster, "--to", file},
		"--scenario " + cluster + ": line 2: ":            {"--config", "v2", "--cluster", cluster, "--to", file, "--scenario", cluster},
	})
	if _, err := os.Stat(file); err == nil {
		t.Error("a result was written")
	}
}
