package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	v1 "k8s.io/api/core/v1"
	nodeutil "k8s.io/kubernetes/pkg/util/node"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// withKwok are the flags that run the real program with stages of its own, and the
// file in which its process will be. HOME has no configuration of it.
func withKwok(t *testing.T, stages ...string) (args []string, pid string) {
	t.Helper()
	program, err := filepath.Abs("../../bin/kwok")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); errors.Is(err, os.ErrNotExist) {
		t.Skip("*** NOT TESTED: there is no bin/kwok: make kwok builds it, where its modules are served")
	}
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	pid = filepath.Join(dir, "pid")
	script := writeFile(t, dir, "kwok", fmt.Sprintf("#!/bin/sh\necho $$ >%s\nexec %s \"$@\"\n", pid, program))
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	args = []string{"--headless", "--kwok", script}
	for _, name := range stages {
		args = append(args, "--kwok-config", filepath.Join("../../bin/kwok-stages", name+".yaml"))
	}
	return args, pid
}

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

const (
	oneNode = `{"nodes":[{"metadata":{"name":"kubecon-1"}}]}`
	twoPods = `{"pods":[
	{"metadata":{"name":"fails","namespace":"default","labels":{"pod-container-running-failed.stage.kwok.x-k8s.io":"true"},
		"annotations":{"pod-container-running-failed.stage.kwok.x-k8s.io/reason":"Chaos"}},
		"spec":{"containers":[{"name":"c","image":"i"}]}},
	{"metadata":{"name":"web","namespace":"default","annotations":{"scheduler.wasmkwokwizardry.io/regex":"^kubecon-"}},
		"spec":{"containers":[{"name":"c","image":"i"}]}}]}`
)

func TestARealKwokDoesWhatItsStagesSay(t *testing.T) {
	args, pidFile := withKwok(t, "node-fast", "pod-fast", "node-chaos", "pod-chaos")
	cluster := writeFile(t, t.TempDir(), "cluster.json", oneNode)
	r := runSimulator(t, append(args, "--import", cluster)...)
	api := r.await(t, `API +(http://localhost:\d+)/api/v1/\n[^$]*Ctrl-C`)
	becomes(t, api, "kubecon-1 true")
	send(t, "POST", api+"/api/v1/import", twoPods, 200)
	becomes(t, api, "kubecon-1 true, fails Failed, web Running")
	send(t, "POST", api+"/api/v1/import", `{"nodes":[{"metadata":{"name":"kubecon-2","labels":{"node-not-ready.stage.kwok.x-k8s.io":"true"}}}]}`, 200)
	send(t, "PUT", api+"/api/v1/reset", "", 202)
	becomes(t, api, "kubecon-1 true")
	if strings.Contains(r.out.String(), "fake kubelets") {
		t.Errorf("our kubelets run, too: %s", r.out)
	}

	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := <-r.done; code != 1 || !strings.Contains(r.out.String(), "simulator: kwok ("+args[2]+") has ended: signal: killed") {
		t.Errorf("it ended with %d: %s", code, r.out)
	}
}

func TestARealKwokTakesTheTimeThatItsGeneralStagesSay(t *testing.T) {
	args, _ := withKwok(t, "node-fast", "node-heartbeat", "pod-general")
	r := runSimulator(t, args...)
	api := r.await(t, `API +(http://localhost:\d+)/api/v1/\n[^$]*Ctrl-C`)
	send(t, "POST", api+"/api/v1/import", oneNode, 200)
	send(t, "POST", api+"/api/v1/import", twoPods, 200)
	becomes(t, api, "kubecon-1 true, fails Running, web Running")
	send(t, "POST", api+"/api/v1/stop", "", 202)
	if code := <-r.done; code != 0 {
		t.Errorf("it ended with %d: %s", code, r.out)
	}
}

func TestARealKwokWithoutStagesEndsTheSimulator(t *testing.T) {
	args, _ := withKwok(t)
	r := runSimulator(t, args...)
	if code := <-r.done; code != 1 || !strings.Contains(r.out.String(), "simulator: kwok ("+args[2]+") has ended: exit status 1: Execute exit: no stages found") {
		t.Errorf("it ended with %d: %s", code, r.out)
	}
}

func TestWithoutKubeletsNothingBecomesReady(t *testing.T) {
	printed := session(t, []string{"--kubelets", "none"}, func(base string) {
		send(t, "POST", base+"/api/v1/import", oneNode, 200)
		becomes(t, base, "kubecon-1 false")
	})
	if strings.Contains(printed, "fake kubelets") {
		t.Error(printed)
	}
}

func TestFlagsOfKwokThatExcludeEachOtherPreventAStart(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--kwok", "/bin/sh", "--kubelets", "none"}, "--kwok and --kubelets: choose one of the two"},
		{[]string{"--kubelets", "kwok"}, `invalid argument "kwok" for "--kubelets" flag: use simulated or none`},
		{[]string{"--kwok-config", "x"}, "--kwok-config is for the program of --kwok, and there is none"},
		{[]string{"--kwok", "/no/kwok"}, `--kwok: exec: "/no/kwok": stat /no/kwok: no such file or directory`},
	} {
		out := newOutput()
		if code := run(t.Context(), c.args, out, out); code != 2 || out.String() != "simulator: "+c.want+"\n" {
			t.Errorf("%s: %d, %s\nwant %s", c.args, code, out, c.want)
		}
	}
}
