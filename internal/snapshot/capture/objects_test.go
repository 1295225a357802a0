package capture

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

type (
	pod        = v1.Pod
	node       = v1.Node
	replicaSet = appsv1.ReplicaSet
)

// fill makes what is in testdata/objects.yaml, a Secret and a ConfigMap, once for all tests.
func fill(t *testing.T) {
	t.Helper()
	testkit.Must(t, filled())
}

var filled = sync.OnceValue(func() error {
	file, err := os.Open("testdata/objects.yaml")
	if err != nil {
		return err
	}
	defer file.Close()
	objects, _, err := snapshot.Read(file)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := snapshot.Import(ctx, client, objects, nil); err != nil {
		return err
	}
	secret := &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "keys"}, StringData: map[string]string{"key": "hush-secret"}}
	settings := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"setting": "hush-config"}}
	_, secretErr := client.CoreV1().Secrets("team").Create(ctx, secret, metav1.CreateOptions{})
	_, settingsErr := client.CoreV1().ConfigMaps("team").Create(ctx, settings, metav1.CreateOptions{})
	_, heldErr := client.CoreV1().Pods("team").Patch(ctx, "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":["example.com/hold"]}}`), metav1.PatchOptions{})
	deleteErr := client.CoreV1().Pods("team").Delete(ctx, "held", metav1.DeleteOptions{})
	return errors.Join(secretErr, settingsErr, heldErr, deleteErr)
})
