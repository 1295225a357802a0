package page

import (
	"bytes"
	"embed"
	"fmt"
	"text/template"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
)

// kind is a kind of object that the page has a form for.
type kind struct {
	// Key names it in addresses and is the stem of its manifest's file name.
	Key string
	// Title is what it is called in the API, Plural in the page's headings.
	Title, Plural string
	Resource      schema.GroupVersionResource
	Namespaced    bool
	// Use says in one line what it is for here.
	Use string
}

var kinds = []kind{
	{"node", "Node", "Nodes", core("nodes"), false, "a machine that pods may run on"},
	{"pod", "Pod", "Pods", core("pods"), true, "what the scheduler finds a node for"},
	{"namespace", "Namespace", "Namespaces", core("namespaces"), false, "a room of its own for pods and claims"},
	{
		"priorityclass", "PriorityClass", "Priority classes",
		schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"},
		false,
		"which pods go first, and may push others out",
	},
	{"persistentvolume", "PersistentVolume", "Persistent volumes", core("persistentvolumes"), false, "storage, perhaps bound to some nodes"},
	{"persistentvolumeclaim", "PersistentVolumeClaim", "Persistent volume claims", core("persistentvolumeclaims"), true, "a pod's demand for storage"},
	{
		"storageclass", "StorageClass", "Storage classes",
		schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"},
		false,
		"how claims get their volumes, and when",
	},
}

func core(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: resource}
}

func kindOf(key string) (kind, bool) {
	for _, k := range kinds {
		if k.Key == key {
			return k, true
		}
	}
	return kind{}, false
}

//go:embed manifests/*.yaml
var manifests embed.FS

var manifestTemplates = template.Must(template.ParseFS(manifests, "manifests/*.yaml"))

// manifest is what a new object of the kind starts from.
func (k kind) manifest() (string, error) {
	var out bytes.Buffer
	suffix := rand.String(5)
	if err := manifestTemplates.ExecuteTemplate(&out, k.Key+".yaml", map[string]string{"Suffix": suffix}); err != nil {
		return "", fmt.Errorf("manifest of a new %s: %w", k.Title, err)
	}
	return out.String(), nil
}
