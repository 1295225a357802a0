package command

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sideHere runs the command to its end.
func sideHere(t *testing.T, args ...string) (status int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = run(t.Context(), append([]string{"side"}, args...), &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

func TestResultsThatWereWrittenAreComparedLater(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "cluster.yaml", comparedCluster)
	a, b, other := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json.gz"), filepath.Join(dir, "other.json")
	for file, args := range map[string][]string{a: {"--config", "none"}, b: {"--config", "v2"}, other: {"--config", "none", "--seed", "2"}} {
		if status, out, errOut := sideHere(t, append(args, "--cluster", cluster, "--to", file)...); status != 0 || out != "" || !strings.Contains(errOut, "schedules") {
			t.Fatalf("status %d: %s %s", status, out, errOut)
		}
	}
	status, out, errOut := compareHere(t.Context(), a, b, "--details")
	if status != statusLost || !regexp.MustCompile(`(?s)^If the scheduler had [^\n]*\n.* A: none +B: v2\n.*default/picky +only under A +node-1`).MatchString(out) || strings.Contains(errOut, "schedules") {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	for want, args := range map[string][]string{
		a + " and " + other + " cannot be compared, since more than the configuration differs: --seed": {a, other},
		a + ": name two results: that of A and that of B":                                              {a},
		"--a cannot be used with results: " + a + " and " + b + " are complete":                        {a, b, "--a", "v2"},
		cluster + `: it is no result of "simulator side", or not all of one`:                           {a, cluster},
		"open " + dir + "/none: no such file or directory":                                             {filepath.Join(dir, "none"), a},
	} {
		status, out, errOut := compareHere(t.Context(), args...)
		if status != statusNone || out != "" || errOut != "simulator: "+want+"\n" {
			t.Errorf("want %q, got status %d, %q", want, status, errOut)
		}
	}
}

func TestTwoProgramsAreCompared(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cluster := writeFile(t, t.TempDir(), "cluster.yaml", comparedCluster)
	args := []string{"--cluster", cluster, "--a", "none", "--a-simulator", self, "--b", "v2", "--b-simulator"}
	status, out, errOut := compareHere(t.Context(), append(args, self)...)
	if status != statusLost || !strings.Contains(out, "picky") {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	misspelt := writeFile(t, t.TempDir(), "misspelt.yaml", "profiles:\n- schedulername: mine\n")
	for want, args := range map[string][]string{
		"--b v2: fork/exec /no/such: no such file or directory": append(args, "/no/such"),
		"--b v2: /bin/true is no simulator that runs sides":     append(args, "/bin/true"),
		"--a " + misspelt + `: line 2: profiles[0].schedulername: unknown field: do you mean "schedulerName"?`: {
			"--cluster", cluster, "--a", misspelt, "--a-simulator", self, "--b", "v2",
		},
	} {
		status, out, errOut := compareHere(t.Context(), args...)
		lines := strings.Split(strings.TrimSpace(errOut), "\n")
		if status != statusNone || out != "" || !strings.HasPrefix(lines[len(lines)-1], "simulator: "+want) {
			t.Errorf("want %q, got status %d, %q", want, status, errOut)
		}
	}
}

func TestSideReportsMistakesAndWritesNothing(t *testing.T) {
	dir := t.TempDir()
	cluster, empty := writeFile(t, dir, "cluster.yaml", comparedCluster), writeFile(t, dir, "empty.yaml", "")
	file := filepath.Join(dir, "result.json")
	for want, args := range map[string][]string{
		"--config is missing; try simulator side --help":                 {"--cluster", cluster, "--to", file},
		"--cluster is missing; try simulator side --help":                {"--config", "v2", "--to", file},
		"--to is missing; try simulator side --help":                     {"--config", "v2", "--cluster", cluster},
		"--config v3: there is no such file, and no such plugin variant": {"--config", "v3", "--cluster", cluster, "--to", file},
		"--cluster " + empty + ": it is empty":                           {"--config", "v2", "--cluster", empty, "--to", file},
		"--config " + empty + ": ":                                       {"--config", empty, "--cluster", cluster, "--to", file},
		"--scenario " + cluster + ": line 2: ":                           {"--config", "v2", "--cluster", cluster, "--to", file, "--scenario", cluster},
		`invalid argument "some" for "--pods" flag: use pending or all`:  {"--config", "v2", "--cluster", cluster, "--to", file, "--pods", "some"},
		"unknown flag: --a":                                              {"--a", "v2"},
	} {
		status, out, errOut := sideHere(t, args...)
		lines := strings.Split(strings.TrimSpace(errOut), "\n")
		if _, err := os.Stat(file); status != statusNone || out != "" || !strings.HasPrefix(lines[len(lines)-1], "simulator: "+want) || err == nil {
			t.Errorf("want %q, got status %d, %q, %v", want, status, errOut, err)
		}
	}
}
