package objects

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// Post creates an object of a manifest at a path of the API, or ends the test.
func Post(t testing.TB, api rest.Interface, path, manifest string) (made metav1.PartialObjectMetadata) {
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
