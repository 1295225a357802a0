package guestcommand

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// pluginName is what the guest is called where no configuration calls it anything.
const pluginName = "Guest"

// question is what a guest is asked: where the pod may run.
type question struct {
	args   wasmhost.Args
	pod    *v1.Pod
	nodes  []*v1.Node
	placed []*v1.Pod // the pods on the nodes

	podFile, nodesFile string
	annotations        []string
}

func (q *question) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&q.podFile, "pod", "", "file with the pod (default: one without labels)")
	cmd.Flags().StringArrayVar(&q.annotations, "annotation", nil, "KEY=VALUE of an annotation that the pod has, too; can be repeated")
	cmd.Flags().StringVar(&q.nodesFile, "nodes", "", "names of nodes, with commas between them; or a file with nodes, as kubectl get nodes -o yaml writes it, and with the pods on them")
	if err := cmd.MarkFlagRequired("nodes"); err != nil {
		panic(err)
	}
	argsFlags(cmd, &q.args)
}

// read reads the files. Without one, there is a pod, and nodes that have a name only.
func (q *question) read(guest string) (err error) {
	q.args.GuestURL, err = urlOf(guest)
	if err != nil {
		return err
	}
	q.pod = &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: metav1.NamespaceDefault, UID: "pod"}}
	if q.podFile != "" {
		pods, _, err := readFile(q.podFile)
		if err == nil && len(pods) != 1 {
			err = fmt.Errorf("--pod %s: has %d pods, but one is asked about", q.podFile, len(pods))
		}
		if err != nil {
			return err
		}
		q.pod = pods[0]
	}
	for _, annotation := range q.annotations {
		key, value, ok := strings.Cut(annotation, "=")
		if !ok {
			return fmt.Errorf("--annotation %s: use KEY=VALUE", annotation)
		}
		metav1.SetMetaDataAnnotation(&q.pod.ObjectMeta, key, value)
	}
	q.nodes = named(q.nodesFile)
	if q.nodes != nil {
		return nil
	}
	q.placed, q.nodes, err = readFile(q.nodesFile)
	if err == nil && len(q.nodes) == 0 {
		err = fmt.Errorf("--nodes %s: has no node", q.nodesFile)
	}
	return err
}

// named makes nodes with names, if the list is not the name of a file.
func named(list string) (nodes []*v1.Node) {
	_, err := os.Stat(list)
	if err == nil || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(list)) {
		return nil
	}
	for name := range strings.SplitSeq(list, ",") {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			return nil
		}
		nodes = append(nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}}})
	}
	return nodes
}

// readFile reads the pods and nodes of a file. A field that does not exist is an error: the guest
// would be asked about a pod without it.
func readFile(file string) (pods []*v1.Pod, nodes []*v1.Node, err error) {
	text, err := readfile.All(file)
	if err != nil {
		return nil, nil, err
	}
	infos, err := resource.NewLocalBuilder().Unstructured().Stream(bytes.NewReader(text), file).Flatten().Do().Infos()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, info := range infos {
		object, decodeErr := scheme.Scheme.New(info.Object.GetObjectKind().GroupVersionKind())
		if decodeErr == nil {
			content := info.Object.(*unstructured.Unstructured).Object
			decodeErr = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, object, true)
		}
		switch object := object.(type) {
		case *v1.Pod:
			pods = append(pods, object)
		case *v1.Node:
			nodes = append(nodes, object)
		default:
			decodeErr = errors.New("neither a pod nor a node")
		}
		if decodeErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %s %s: %w", file, info.Object.GetObjectKind().GroupVersionKind().Kind, info.Name, decodeErr))
		}
	}
	return pods, nodes, err
}

// argsFlags are what a scheduler's configuration would say of the guest.
func argsFlags(cmd *cobra.Command, args *wasmhost.Args) {
	cmd.Flags().StringVar(&args.GuestConfig, "guest-config", "", "guestConfig, which the guest reads when it starts")
	cmd.Flags().Var(cli.Number(&args.LogSeverity, 0, 3), "log-severity", "least severity that is logged: 0 info, 1 warning, 2 error, 3 fatal")
}

// urlOf takes a path for what a configuration says as file://.
func urlOf(guest string) (string, error) {
	switch {
	case guest == "-":
		return "", errors.New("-: a guest is not read from standard input: give a file or a URL")
	case strings.Contains(guest, "://"):
		return guest, nil
	}
	return "file://" + filepath.ToSlash(guest), nil
}

// schedulerOf is the scheduler's framework with the guest, which is the plugin, and with what the
// framework cannot be without.
func schedulerOf(ctx context.Context, started *wasmhost.Started, q question, recorder events.EventRecorderLogger) (scheduler framework.Framework, plugin fwk.Plugin, err error) {
	client, err := kubernetes.NewForConfig(&rest.Config{}) // no server is there, and nothing is asked
	if err != nil {
		return nil, nil, err
	}
	metrics.Register()
	enabled := func(name string) config.PluginSet { return config.PluginSet{Enabled: []config.Plugin{{Name: name}}} }
	scheduler, err = frameworkruntime.NewFramework(ctx, frameworkruntime.Registry{
		pluginName: func(ctx context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			plugin = started.Plugin(ctx, handle)
			return plugin, nil
		},
		queuesort.Name:     queuesort.New,
		defaultbinder.Name: defaultbinder.New,
	}, &config.KubeSchedulerProfile{
		SchedulerName: v1.DefaultSchedulerName,
		Plugins: &config.Plugins{
			MultiPoint: enabled(pluginName), QueueSort: enabled(queuesort.Name), Bind: enabled(defaultbinder.Name),
		},
	},
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(client, 0)),
		frameworkruntime.WithSnapshotSharedLister(cache.NewSnapshot(q.placed, q.nodes)),
		frameworkruntime.WithEventRecorder(recorder),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
	)
	return scheduler, plugin, err
}
