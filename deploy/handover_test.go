package deploy

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// asProgram makes the test binary act as bin/scheduler.
const asProgram = "TEST_AS_SCHEDULER"

// TestSchedulerHandsOverToItsReplica runs two replicas as programs, with the rights and the lease of
// deploy/scheduler/native, and stops the one that leads.
func TestSchedulerHandsOverToItsReplica(t *testing.T) {
	addNode(t, "kubecon-1", 10)
	for name, stop := range map[string]syscall.Signal{"is-stopped": syscall.SIGTERM, "is-killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			installScheduler(t, "native")
			leader, _ := startReplica(t)
			addPod(t, podFor(name+"-before", "kubecon-.*"))
			waitForNode(t, name+"-before", "kubecon-1")
			_, log := startReplica(t)
			testkit.Eventually(t, "the replica waits for the lease", func(context.Context) error {
				if !strings.Contains(log.String(), "Attempting to acquire leader lease") {
					return errors.New(log.String())
				}
				return nil
			})
			testkit.Must(t, leader.Process.Signal(stop))
			_ = leader.Wait() // an error by the signal
			addPod(t, podFor(name+"-after", "kubecon-.*"))
			waitForNode(t, name+"-after", "kubecon-1")
		})
	}
}

// startReplica runs a scheduler as a program until the test ends.
func startReplica(t *testing.T) (*exec.Cmd, *testkit.Log) {
	t.Helper()
	const lease, connection = "leaderElection: # the Role custom-scheduler allows this lease\n", "clientConnection: {"
	config := configOf(t, mustRender(t, "scheduler/native"))
	if !strings.Contains(config, lease) || !strings.Contains(config, connection) {
		t.Fatalf("no %q or %q in\n%s", lease, connection, config)
	}
	config = strings.Replace(config, lease, lease+"  leaseDuration: 3s\n  renewDeadline: 2s\n  retryPeriod: 500ms\n", 1)
	config = strings.Replace(config, connection, connection+"kubeconfig: "+kubeconfigOf(t, schedulerUser, schedulerGroups...)+", ", 1)
	file := filepath.Join(t.TempDir(), "config.yaml")
	testkit.Must(t, os.WriteFile(file, []byte(config), 0o600))
	self, err := os.Executable()
	testkit.Must(t, err)
	log := &testkit.Log{}
	replica := exec.Command(self, "--config="+file, "--secure-port=0")
	replica.Env = append(os.Environ(), asProgram+"=yes")
	replica.Stderr = log
	testkit.Must(t, replica.Start())
	t.Cleanup(func() {
		_ = replica.Process.Kill()
		_ = replica.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return replica, log
}
