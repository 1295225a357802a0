package kubescheduler

import (
	"context"
	"fmt"
	"os"
	"testing"

	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/controlplane"
)

// cluster is there for all tests.
var (
	cluster *controlplane.Cluster
	client  kubernetes.Interface
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	err := os.Chdir("..") // a folder in the root of the repository, as the guests' paths in testdata/scheduler need it
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if cluster, err = controlplane.Start(context.Background(), controlplane.Config{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer cluster.Stop()
	if client, err = kubernetes.NewForConfig(cluster.AdminConfig()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
