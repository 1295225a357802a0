package deploy

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// simulatorVariable names a simulator of the next minor of Kubernetes. Its API server
// then takes the place of this minor's: `make test-minors` sets it for the tests of what
// the scheduler may do.
const simulatorVariable = "SIMULATOR_OF_NEXT_MINOR"

// startAPIServer starts the API server of all tests, and returns its admin's configuration.
func startAPIServer() (admin *rest.Config, stop func(), err error) {
	program := os.Getenv(simulatorVariable)
	if program != "" {
		return startProgram(program)
	}
	cluster, err := controlplane.Start(context.Background(), controlplane.Config{})
	if err != nil {
		return nil, nil, err
	}
	return cluster.AdminConfig(), func() { cluster.Stop() }, nil
}

// idleScheduler has a simulator's scheduler take no pod: some of the schedulers that are tested are default-scheduler.
const idleScheduler = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: idle}]
`

// startProgram runs a simulator whose scheduler and kubelets leave our objects alone.
func startProgram(program string) (admin *rest.Config, stop func(), err error) {
	dir, err := os.MkdirTemp("", "deploy-")
	if err != nil {
		return nil, nil, err
	}
	config, data := filepath.Join(dir, "idle.yaml"), filepath.Join(dir, "data")
	if err := os.WriteFile(config, []byte(idleScheduler), 0o600); err != nil {
		return nil, nil, err
	}
	var output bytes.Buffer
	command := exec.Command(program, "--config="+config, "--kubelets=none", "--data-dir="+data,
		"--port=0", "--api-port=0", "--web-port=0")
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", simulatorVariable, err)
	}
	stop = func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
		_ = os.RemoveAll(dir)
	}
	err = wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, testkit.Patience, true, func(ctx context.Context) (bool, error) {
		if admin, err = clientcmd.BuildConfigFromFlags("", filepath.Join(data, controlplane.KubeconfigFile)); err != nil {
			return false, nil // not written yet
		}
		c, err := kubernetes.NewForConfig(admin)
		if err != nil {
			return false, err
		}
		return c.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil, nil
	})
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("%s is not ready: %w\n%s", program, err, output.Bytes())
	}
	return admin, stop, nil
}

// clientOf has the rights of user in groups, and no others.
func clientOf(t *testing.T, user string, groups ...string) kubernetes.Interface {
	t.Helper()
	config := rest.CopyConfig(admin)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	c, err := kubernetes.NewForConfig(config)
	testkit.Must(t, err)
	return c
}

// kubeconfigOf is a file with the same rights.
func kubeconfigOf(t *testing.T, user string, groups ...string) (file string) {
	t.Helper()
	config := api.NewConfig()
	config.Clusters["test"] = &api.Cluster{Server: admin.Host, CertificateAuthorityData: admin.CAData}
	config.AuthInfos["test"] = &api.AuthInfo{
		ClientCertificateData: admin.CertData, ClientKeyData: admin.KeyData, Impersonate: user, ImpersonateGroups: groups,
	}
	config.Contexts["test"] = &api.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	file = filepath.Join(t.TempDir(), "kubeconfig")
	testkit.Must(t, clientcmd.WriteToFile(*config, file))
	return file
}
