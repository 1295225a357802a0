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
	// Makes is true of workloads, which make pods; Scales, of those that have replicas.
	Makes, Scales bool
}

var kinds = []kind{
	{"node", "Node", "Nodes", in("", "nodes"), false, "a machine that pods may run on", false, false},
	{"pod", "Pod", "Pods", in("", "pods"), true, "what the scheduler finds a node for", false, false},
	{"deployment", "Deployment", "Deployments", in("apps", "deployments"), true, "so many pods alike, replaced by and by when they change", true, true},
	{"replicaset", "ReplicaSet", "Replica sets", in("apps", "replicasets"), true, "so many pods alike", true, true},
	{"statefulset", "StatefulSet", "Stateful sets", in("apps", "statefulsets"), true, "so many pods in turn, each with claims of its own", true, true},
	{
		"replicationcontroller", "ReplicationController", "Replication controllers", in("", "replicationcontrollers"), true,
		"so many pods alike, as before there were replica sets", true, true,
	},
	{"daemonset", "DaemonSet", "Daemon sets", in("apps", "daemonsets"), true, "a pod on each node", true, false},
	{"job", "Job", "Jobs", in("batch", "jobs"), true, "pods that come to an end", true, false},
	{"cronjob", "CronJob", "Cron jobs", in("batch", "cronjobs"), true, "a job every now and then", true, false},
	{"namespace", "Namespace", "Namespaces", in("", "namespaces"), false, "a room of its own for pods and claims", false, false},
	{
		"priorityclass", "PriorityClass", "Priority classes", in("scheduling.k8s.io", "priorityclasses"), false,
		"which pods go first, and may push others out", false, false,
	},
	{
		"poddisruptionbudget", "PodDisruptionBudget", "Pod disruption budgets", in("policy", "poddisruptionbudgets"), true,
		"how many pods preemption should leave alone", false, false,
	},
	{"service", "Service", "Services", in("", "services"), true, "which pods belong together, and are spread by default", false, false},
	{"configmap", "ConfigMap", "Config maps", in("", "configmaps"), true, "what programs read; scheduling does not depend on it", false, false},
	{"persistentvolume", "PersistentVolume", "Persistent volumes", in("", "persistentvolumes"), false, "storage, perhaps bound to some nodes", false, false},
	{
		"persistentvolumeclaim", "PersistentVolumeClaim", "Persistent volume claims", in("", "persistentvolumeclaims"), true,
		"a pod's demand for storage", false, false,
	},
	{
		"storageclass", "StorageClass", "Storage classes", in("storage.k8s.io", "storageclasses"), false,
		"how claims get their volumes, and when", false, false,
	},
}

// in is a resource of a group, all of which are at v1.
func in(group, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
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
