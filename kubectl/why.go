package kubectl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/decisions"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/report"
)

func newWhy(o *options) *cobra.Command {
	var replica string
	cmd := &cobra.Command{
		Use:   "why POD",
		Short: "Ask the running scheduler why a pod is pending",
		Long: "Ask the running scheduler why a pod is pending, through a port-forward to its pod. The scheduler runs with --decisions.\n\n" +
			"It gets your credentials, so ask only one that you trust. If it cannot be asked, the command explains the pod.",
		Example:           "  kubectl regex why web-0 -n shop",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.why(cmd.Context(), args[0], replica)
		},
	}
	cmd.Flags().StringVar(&replica, "scheduler", "", "The pod of one of the scheduler's replicas, as NAMESPACE/POD. By default it is found by the Lease with the pod's schedulerName, or kube-system/kube-scheduler")
	o.addOutput(cmd, "text", "json", "yaml")
	return cmd
}

// why prints what the pod's scheduler says of it.
func (o *options) why(ctx context.Context, name, replica string) error {
	client, pod, err := o.pod(ctx, name)
	if err != nil {
		return err
	}
	answer, err := o.askScheduler(ctx, client, pod, replica)
	if err != nil {
		printable.Fprintf(o.ErrOut, "The scheduler cannot be asked: %v.\n", err)
		return o.explain(ctx, client, pod)
	}
	if len(answer.Attempts) == 0 {
		printable.Fprintf(o.ErrOut, "%s\n", answer.Verdict)
		return o.explain(ctx, client, pod)
	}
	if o.output != "text" {
		return o.print(answer)
	}
	nodes, err := o.nodes(ctx, "")
	if err != nil && !apierrors.IsForbidden(errors.Unwrap(err)) {
		return err
	}
	return report.Write(o.Out, "table", nil, report.Report{Answer: answer.Verdict, Sections: o.sections(pod, answer, namesOf(nodes))})
}

// askScheduler asks the replica that leads.
func (o *options) askScheduler(ctx context.Context, client kubernetes.Interface, pod *v1.Pod, replica string) (*decisions.Answer, error) {
	if ptr.Deref(o.cluster.Impersonate, "") != "" {
		return nil, errors.New("it would answer you, and not " + *o.cluster.Impersonate + ", since only the API server knows --as")
	}
	first, err := replicaOf(ctx, client, pod.Spec.SchedulerName, replica)
	if err != nil {
		return nil, err
	}
	answer, err := o.askReplica(ctx, first, pod)
	if err != nil || answer.Leader == "" {
		return answer, err
	}
	leader, err := podOf(ctx, client, answer.Leader, first.Namespace)
	if err != nil {
		return nil, err
	}
	answer, err = o.askReplica(ctx, leader, pod)
	if err == nil && answer.Leader != "" {
		err = errors.New("its replicas are just changing the leader")
	}
	return answer, err
}

// replicaOf finds a pod of a scheduler: the one that is given, or the holder of its Lease.
func replicaOf(ctx context.Context, client kubernetes.Interface, scheduler, replica string) (*v1.Pod, error) {
	if replica != "" {
		namespace, name, ok := strings.Cut(replica, "/")
		if !ok {
			return nil, fmt.Errorf("--scheduler %s: want NAMESPACE/POD", replica)
		}
		return client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	}
	lease, err := leaseOf(ctx, client, scheduler)
	if err != nil {
		return nil, err
	}
	return podOf(ctx, client, ptr.Deref(lease.Spec.HolderIdentity, ""), lease.Namespace)
}

// ours is the namespace that deploy/ has.
const ours = "regex-scheduling"

func leaseOf(ctx context.Context, client kubernetes.Interface, scheduler string) (*coordinationv1.Lease, error) {
	if scheduler == v1.DefaultSchedulerName {
		return client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, "kube-scheduler", metav1.GetOptions{})
	}
	all, err := client.CoordinationV1().Leases(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + scheduler})
	if err != nil {
		return client.CoordinationV1().Leases(ours).Get(ctx, scheduler, metav1.GetOptions{})
	}
	if len(all.Items) != 1 {
		return nil, fmt.Errorf("%s called %s, like the pod's scheduler: name a pod of it with --scheduler", report.Plural(len(all.Items), "Lease"), scheduler)
	}
	return &all.Items[0], nil
}

// podOf finds the pod with an identity in leader election, which is its host name, an underscore and
// a UID. The host name is the pod's name, or the node's of a static pod.
func podOf(ctx context.Context, client kubernetes.Interface, identity, namespace string) (pod *v1.Pod, err error) {
	host, _, _ := strings.Cut(identity, "_")
	for _, in := range []string{namespace, ours} {
		for _, name := range []string{host, "kube-scheduler-" + host} {
			pod, err = client.CoreV1().Pods(in).Get(ctx, name, metav1.GetOptions{})
			if err == nil || !apierrors.IsNotFound(err) {
				return pod, err
			}
		}
	}
	return nil, fmt.Errorf("no pod in %s or %s has the identity %q, which leads: name a pod of the scheduler with --scheduler", namespace, ours, identity)
}

// askReplica asks a pod of the scheduler through a port-forward. Its certificate is mostly one that it has made for itself, so the
// API server, which makes the connection, vouches for it alone.
func (o *options) askReplica(ctx context.Context, replica, about *v1.Pod) (*decisions.Answer, error) {
	config, err := o.cluster.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	address, stop, err := forward(config, replica)
	if err != nil {
		return nil, fmt.Errorf("port-forward to pod %s/%s: %w", replica.Namespace, replica.Name, err)
	}
	defer stop()
	direct := rest.CopyConfig(config)
	direct.Host, direct.APIPath, direct.Proxy = "https://"+address, "", nil
	direct.Insecure, direct.CAFile, direct.CAData, direct.ServerName = true, "", nil, ""
	client, err := rest.HTTPClientFor(direct)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, direct.Host+decisions.Path+about.Namespace+"/"+about.Name, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, decisions.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	var answer decisions.Answer
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") || json.Unmarshal(text, &answer) != nil || answer.Pod == "" {
		return nil, fmt.Errorf("pod %s/%s answers %s: %s", replica.Namespace, replica.Name, response.Status, refusal(response.StatusCode, text))
	}
	return &answer, nil
}

// refusal says what the scheduler means by an answer without decisions.
func refusal(status int, text []byte) string {
	switch status {
	case http.StatusUnauthorized:
		return "it does not accept your credentials: with --authentication-skip-lookup=true no client certificate"
	case http.StatusNotFound:
		return "it runs without --decisions"
	}
	var said metav1.Status
	if json.Unmarshal(text, &said) == nil && said.Message != "" {
		return said.Message
	}
	return strings.TrimSpace(string(text))
}

// forward forwards a local port to the secure port of a scheduler's pod.
func forward(config *rest.Config, to *v1.Pod) (address string, stop func(), err error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", nil, err
	}
	at := client.CoreV1().RESTClient().Post().Namespace(to.Namespace).Resource("pods").Name(to.Name).SubResource("portforward").URL()
	done := make(chan struct{})
	ready := make(chan struct{})
	forwarder, err := newForwarder(config, at, fmt.Sprintf("0:%d", securePort(to)), done, ready)
	if err != nil {
		return "", nil, err
	}
	failed := make(chan error, 1)
	go func() { failed <- forwarder.ForwardPorts() }()
	select {
	case err := <-failed:
		return "", nil, err
	case <-ready:
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		close(done)
		return "", nil, err
	}
	return fmt.Sprintf("127.0.0.1:%d", ports[0].Local), func() { close(done) }, nil
}

// newForwarder forwards as kubectl does: over a web socket, or by SPDY, as where a proxy on the way does not know web sockets.
func newForwarder(config *rest.Config, at *url.URL, ports string, done <-chan struct{}, ready chan struct{}) (*portforward.PortForwarder, error) {
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, err
	}
	older := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, at)
	newer, err := portforward.NewSPDYOverWebsocketDialer(at, config)
	if err != nil {
		return nil, err
	}
	dialer := portforward.NewFallbackDialer(newer, older, func(error) bool { return true })
	return portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{ports}, done, ready, io.Discard, io.Discard)
}

// securePort is where a scheduler serves.
func securePort(pod *v1.Pod) int32 {
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == "https" {
				return port.ContainerPort
			}
		}
	}
	return 10259
}

// sections say what the last attempt was, and what would have to change.
func (o *options) sections(pod *v1.Pod, answer *decisions.Answer, nodes []string) (all []report.Section) {
	last := answer.Attempts[0]
	var text report.Section
	if last.UID != string(pod.UID) {
		text.Text = append(text.Text, "That was an earlier pod of this name: the scheduler has not tried this one.")
	}
	text.Text = append(text.Text, o.ofMatching(pod, &last, nodes))
	for _, lack := range last.Shortages {
		text.Text = append(text.Text, lack.String())
	}
	for _, plugin := range last.Plugins {
		text.Text = append(text.Text, fmt.Sprintf("%s of %s: %s %s", plugin.Point, plugin.Name, strings.ToLower(plugin.Verdict), plugin.Reason))
	}
	if last.Nominated != "" {
		text.Text = append(text.Text, fmt.Sprintf("Preemption of %s makes room on node %s.", report.Plural(last.Preempted, "pod"), last.Nominated))
	}
	var rows [][]string
	for _, group := range last.Nodes {
		rows = append(rows, []string{fmt.Sprint(group.Count), group.Plugin, group.Reason, report.Few(group.Names)})
	}
	var scores [][]string
	for _, score := range last.Scores {
		scores = append(scores, []string{score.Node, fmt.Sprint(score.Total)})
	}
	age := fmt.Sprintf("Attempt %d of scheduler %s: %s, %s ago.", last.Number, last.Scheduler, last.Result, report.Age(answer.Time.Sub(last.Time)))
	return []report.Section{
		report.Table("", []string{"NODES", "PLUGIN", "REASON", "WHICH"}, rows), text,
		report.Table("", []string{"BEST NODES", "SCORE"}, scores),
		{Text: []string{age}},
	}
}

// ofMatching says what rejects the nodes that the pod's patterns match.
func (o *options) ofMatching(pod *v1.Pod, last *decisions.Attempt, nodes []string) string {
	selector, err := o.policy.Selector(pod.Annotations)
	if err != nil || selector == nil || len(nodes) == 0 {
		return ""
	}
	matches := matching(selector, nodes)
	of := sets.New(matches...)
	counts := map[string]int{}
	for _, group := range last.Nodes {
		for _, name := range group.Names {
			if of.Has(name) {
				counts[strings.TrimPrefix(group.Reason, "node(s) ")]++
			}
		}
	}
	reasons := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var why []string
	for _, reason := range reasons {
		why = append(why, fmt.Sprintf("%d: %s", counts[reason], reason))
	}
	if len(why) == 0 {
		return nodesMatch(len(matches)) + " the regex."
	}
	return nodesMatch(len(matches)) + " the regex; of these " + strings.Join(why, "; ")
}
