package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// shared is the cluster of the tests that don't stop theirs.
var sharedCluster *Cluster

func TestMain(m *testing.M) {
	dir := os.Getenv(quietDir)
	if dir != "" {
		os.Exit(runQuietly(dir))
	}
	os.Exit(runShared(m))
}

func runShared(m *testing.M) int {
	var err error
	if sharedCluster, err = Start(context.Background(), Config{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := sharedCluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
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

// post makes an object of a manifest at a path of the API.
func post(t *testing.T, api rest.Interface, path, manifest string) (made metav1.PartialObjectMetadata) {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	testkit.Must(t, err)
	request := api.Post().AbsPath(path).SetHeader("Content-Type", "application/json").SetHeader("Accept", "application/json")
	answer, err := request.Body(raw).Do(t.Context()).Raw()
	if err != nil {
		t.Fatalf("%s: %v", manifest, err)
	}
	testkit.Must(t, json.Unmarshal(answer, &made))
	return made
}
