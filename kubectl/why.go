package kubectl

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	authenticationv1 "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/decisions"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
)

func newWhy(o *options) *cobra.Command {
	const flagAuthority = "scheduler-certificate-authority"
	var replica, authority string
	cmd := &cobra.Command{
		Use:   "why POD",
		Short: "Ask the running scheduler why a pod is pending",
		Long: "Ask the running scheduler why a pod is pending, through a port-forward to its pod. The scheduler runs with --decisions.\n\n" +
			"Your token is sent only with --scheduler-certificate-authority. Otherwise the scheduler is shown your client certificate, or gets\n" +
			"a token of ten minutes that schedulers alone accept, if you may make one. If it cannot be asked, the command explains the pod.",
		Example:           "  kubectl regex why web-0 -n shop",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			namespace, name, _ := strings.Cut(replica, "/")
			if replica != "" && (namespace == "" || name == "" || strings.Contains(name, "/")) {
				return fmt.Errorf("--scheduler %s: want NAMESPACE/POD", replica)
			}
			if cmd.Flags().Changed(flagAuthority) {
				var err error
				o.schedulerCA, err = readfile.All(authority)
				if err == nil {
					_, err = cert.ParseCertsPEM(o.schedulerCA)
				}
				if err != nil {
					return fmt.Errorf("--%s %s: %w", flagAuthority, authority, err)
				}
			}
			return o.why(cmd.Context(), args[0], replica)
		},
	}
	cmd.Flags().StringVar(&replica, "scheduler", "", "The pod that is asked, as NAMESPACE/POD. It is shown your client certificate, or gets a token that schedulers alone accept. By default the pods of deploy/ in regex-scheduling are asked, and those of kube-scheduler in kube-system")
	cmd.Flags().StringVar(&authority, flagAuthority, "", "A file with the authority of the scheduler's certificate. Your own credentials, also a token, are sent to who has a certificate of it for "+decisions.ServerName)
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
	if err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	return report.Write(o.Out, "table", nil, report.Report{Answer: answer.Verdict, Sections: o.sections(pod, answer, namesOf(nodes))})
}

// askScheduler asks the replicas until one leads and knows the pod.
func (o *options) askScheduler(ctx context.Context, client kubernetes.Interface, pod *v1.Pod, replica string) (*decisions.Answer, error) {
	config, err := o.cluster.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	if config.Impersonate.UserName != "" {
		return nil, errors.New("it would answer you, and not " + config.Impersonate.UserName + ", since only the API server knows --as")
	}
	replicas, err := replicasOf(ctx, client, pod.Spec.SchedulerName, replica)
	if err != nil {
		return nil, err
	}
	var leader, standby *decisions.Answer
	var failed error
	for i := range replicas {
		answer, err := o.askReplica(ctx, config, &replicas[i], pod)
		switch {
		case err != nil:
			failed = cmp.Or(failed, err)
		case len(answer.Attempts) > 0:
			return answer, nil
		case answer.Leader != "":
			standby = answer
		case leader == nil:
			leader = answer
		}
	}
	if leader == nil && failed != nil {
		return nil, failed
	}
	return cmp.Or(leader, standby), nil
}

// ours are the pods of deploy/, and others those of kubeadm and of deploy/static-pods. No tenant can write in their namespaces,
// while a Lease or a pod of a scheduler's name can be anybody's.
var (
	ours   = place{"regex-scheduling", "app.kubernetes.io/name=custom-scheduler"}
	others = place{metav1.NamespaceSystem, "component=kube-scheduler"}
)

type place struct{ namespace, labels string }

// replicasOf finds the pods that can be those of a scheduler, or the one that is given.
func replicasOf(ctx context.Context, client kubernetes.Interface, scheduler, replica string) ([]v1.Pod, error) {
	if replica != "" {
		namespace, name, _ := strings.Cut(replica, "/")
		pod, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("--scheduler %s: in namespace %s, %w", replica, namespace, err)
		}
		return []v1.Pod{*pod}, nil
	}
	places := []place{ours, others}
	if scheduler == v1.DefaultSchedulerName {
		places = []place{others, ours}
	}
	var all []v1.Pod
	failed := fmt.Errorf("there is no pod with the label %s in namespace %s, or %s in %s: name a pod of the scheduler with --scheduler",
		ours.labels, ours.namespace, others.labels, others.namespace)
	for _, in := range places {
		pods, err := client.CoreV1().Pods(in.namespace).List(ctx, metav1.ListOptions{LabelSelector: in.labels})
		if err != nil {
			failed = fmt.Errorf("%w; %w", failed, err)
			continue
		}
		all = append(all, pods.Items...)
	}
	if len(all) == 0 {
		return nil, failed
	}
	return all, nil
}

// askReplica asks a pod of the scheduler through a port-forward.
func (o *options) askReplica(ctx context.Context, config *rest.Config, replica, about *v1.Pod) (*decisions.Answer, error) {
	address, stop, err := forward(ctx, config, replica)
	if err != nil {
		return nil, fmt.Errorf("port-forward to pod %s/%s: %w", replica.Namespace, replica.Name, err)
	}
	defer stop()
	client, gets, err := o.schedulerClient(ctx, config, replica.Namespace)
	if err != nil {
		return nil, err
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
		if err == nil && gets != "" {
			printable.Fprintf(o.ErrOut, "The certificate of pod %s/%s is not checked, so no token of yours is sent: %s. See --scheduler-certificate-authority.\n",
				replica.Namespace, replica.Name, gets)
		}
	}})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+decisions.Path+about.Namespace+"/"+about.Name, nil)
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

// answerWithin is how long a scheduler may take to answer, without --request-timeout.
const answerWithin = 10 * time.Second

// schedulerClient sends the user's credentials only to who has the certificate that is asked for. Without that, the scheduler gets nothing
// with which it could act as the user: a TLS handshake shows a client certificate and keeps its key, and a token of ours is
// accepted by schedulers only. What it gets then is a sentence.
func (o *options) schedulerClient(ctx context.Context, config *rest.Config, namespace string) (client *http.Client, gets string, err error) {
	direct := rest.CopyConfig(config)
	direct.Proxy = nil
	direct.CAData, direct.CAFile, direct.ServerName = o.schedulerCA, "", decisions.ServerName
	direct.Insecure = o.schedulerCA == nil
	handshake, err := rest.TLSConfigFor(direct)
	if err != nil {
		return nil, "", err
	}
	switch {
	case o.schedulerCA != nil:
		client, err = rest.HTTPClientFor(direct)
	case hasClientCertificate(handshake):
		gets = "it is shown your client certificate"
		client = &http.Client{Transport: &http.Transport{TLSClientConfig: handshake}}
	default:
		gets = "it gets a token of ten minutes"
		direct = &rest.Config{TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
		direct.BearerToken, err = tokenFor(ctx, config, namespace)
		if err != nil {
			return nil, "", err
		}
		client, err = rest.HTTPClientFor(direct)
	}
	if err != nil {
		return nil, "", err
	}
	client.Timeout = cmp.Or(config.Timeout, answerWithin)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // it would take a token along
	return client, gets, nil
}

// hasClientCertificate asks a credential plugin, too.
func hasClientCertificate(handshake *tls.Config) bool {
	if handshake.GetClientCertificate == nil {
		return false
	}
	certificate, err := handshake.GetClientCertificate(&tls.CertificateRequestInfo{})
	return err == nil && len(certificate.Certificate) > 0
}

// tokenFor makes a token that lives as short as there is.
func tokenFor(ctx context.Context, config *rest.Config, namespace string) (string, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{decisions.Audience}, ExpirationSeconds: ptr.To[int64](600)}}
	made, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, decisions.Account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("your own token is not sent without --scheduler-certificate-authority FILE, you have no client certificate, and a token for schedulers cannot be made: %w", err)
	}
	return made.Status.Token, nil
}

// maxRefusal bounds what is shown of an answer without decisions, in bytes.
const maxRefusal = 1024

// refusal says what the scheduler means by an answer without decisions.
func refusal(status int, text []byte) string {
	switch status {
	case http.StatusUnauthorized:
		return "it does not accept your client certificate, as with --authentication-skip-lookup=true, or your token"
	case http.StatusNotFound:
		return "it runs without --decisions"
	}
	var said metav1.Status
	if json.Unmarshal(text, &said) == nil && said.Message != "" {
		return said.Message
	}
	return printable.Line(string(text), maxRefusal)
}

// forward forwards a local port to the secure port of a scheduler's pod.
func forward(ctx context.Context, config *rest.Config, to *v1.Pod) (address string, stop func(), err error) {
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
	case <-ctx.Done():
		close(done)
		return "", nil, context.Cause(ctx)
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
	rules, err := o.policy.Compile(pod.Annotations)
	if err != nil || !rules.Filters() || len(nodes) == 0 {
		return ""
	}
	matches := matching(&rules, nodes)
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
