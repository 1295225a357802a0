package controlplane

import (
	"context"
	"os"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// shared is the cluster of the tests that don't stop theirs.
var sharedCluster *Cluster

func TestMain(m *testing.M) {
	dir := os.Getenv(quietDir)
	if dir != "" {
		os.Exit(runQuietly(dir))
	}
	testkit.Main(m, func(ctx context.Context) (stop func() error, err error) {
		sharedCluster, err = Start(ctx, Config{})
		return sharedCluster.Stop, err
	})
}

func stopCluster(t *testing.T, c *Cluster) {
	t.Helper()
	if err := c.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func clientOf(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	testkit.Must(t, err)
	return client
}
