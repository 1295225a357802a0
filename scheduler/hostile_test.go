package scheduler

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"wasmkwokwizardry.io/regex-scheduling/internal/decisions"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/kubectl"
)

const adminsToken = "THE-ADMINS-TOKEN"

// hostileWhatIfs are the commands of the simulator that read a cluster, with arguments that get them an answer.
var hostileWhatIfs = map[string]string{
	"":         "--port=0 --api-port=0 --web-port=0", // serves until it is stopped
	"compare":  "--a none --b native --pods all",
	"drain":    "a1 --config native --force",
	"fail":     "a1 --config native --force",
	"fit":      "-f MANIFEST --config native",
	"rollout":  "-f MANIFEST --config native",
	"shrink":   "--config native --force",
	"snapshot": "--to SNAPSHOT",
	"upgrade":  "a1 --config native --force",
	"why":      "of-default-scheduler -n tenant --config native",
}

// hostileKubectl are the commands of kubectl regex.
var hostileKubectl = map[string]string{
	"explain": "POD",
	"lint":    "MANIFEST --live",
	"match":   "a1",
	"nodes":   "-A",
	"why":     "POD",
}

// hostilePods have schedulerNames that lead a request astray where they become part of one.
var hostilePods = map[string]string{
	"of-default-scheduler": "default-scheduler",
	"of-custom-scheduler":  "custom-scheduler",
	"of-tenants":           "tenants-own",
	"of-a-path":            "../../tenant/leases/tenants-own",
	"of-two":               "tenants-own,metadata.namespace=tenant",
}

// thief is a server that a tenant runs.
type thief struct {
	https, http string
	ca          []byte
	mu          sync.Mutex
	got         []string // the credentials of each request
}

func startThief(t *testing.T) *thief {
	t.Helper()
	th := &thief{}
	take := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		th.mu.Lock()
		th.got = append(th.got, r.Header.Get("Authorization")+r.Header.Get("Cookie")+r.URL.User.String())
		th.mu.Unlock()
		http.Redirect(w, r, th.http+"/again", http.StatusTemporaryRedirect)
	})
	plain, secure := httptest.NewServer(take), httptest.NewUnstartedServer(take)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	th.http, th.https = plain.URL, secure.Listener.Addr().String()
	th.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	return th
}

// taken is what it got since the last time.
func (th *thief) taken() []string {
	th.mu.Lock()
	defer th.mu.Unlock()
	got := th.got
	th.got = nil
	return got
}

// TestNoCredentialLeavesButToTheAPIServer runs each command that connects to a cluster, in one where a tenant has written all
// that a tenant can write, in the second case also the namespace of deploy/, as where everybody may make namespaces.
func TestNoCredentialLeavesButToTheAPIServer(t *testing.T) {
	testkit.OnOneMinor(t)
	c := startCluster(t)
	c.addNode(t, "a1", nil)
	c.addNode(t, "a2", nil)
	dir := t.TempDir()
	manifest := filepath.Join(dir, "web.yaml")
	testkit.Must(t, os.WriteFile(manifest, []byte(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {a: b}},
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: c}]}}}}`), 0o600))
	th := startThief(t)
	withCertificate := c.kubeconfig(t, "admin", func(string) string { return th.https }, "system:masters")
	withToken := useToken(t, withCertificate, adminsToken)
	commandsAreListed(t)

	tokens := 0
	for _, namespace := range []string{"tenant", "regex-scheduling"} {
		c.writeAll(t, namespace, th)
		for command, args := range hostileKubectl {
			for pod := range hostilePods {
				for _, kubeconfig := range []string{withToken, withCertificate} {
					streams, _, out, errOut := genericiooptions.NewTestIOStreams()
					args := strings.NewReplacer("MANIFEST", manifest, "POD", pod).Replace(command + " " + args)
					status := kubectl.Run(t.Context(), append(strings.Fields(args), "-n", namespace, "--kubeconfig", kubeconfig), streams)
					if status != 0 && command != "nodes" { // which finds the pattern that matches none
						t.Errorf("%s ends with %d: %s%s", args, status, out, errOut)
					}
					for _, got := range th.taken() {
						tokens += strings.Count(got, "Bearer ")
						if namespace == "tenant" || c.accepts(t, got) {
							t.Errorf("%s of %s sends the tenant's server %q: %s", args, namespace, got, errOut)
						}
					}
				}
			}
		}
	}
	if tokens == 0 {
		t.Error("no token for schedulers is sent to what stands in the place of one")
	}
	for command, args := range hostileWhatIfs {
		args = strings.NewReplacer("MANIFEST", manifest, "SNAPSHOT", filepath.Join(dir, "cluster.yaml")).Replace(args)
		out := runSimulator(t, strings.Fields(command+" --kubeconfig "+withToken+" "+args)...)
		if got := th.taken(); got != nil {
			t.Errorf("simulator %s sends the tenant's server %q: %s", command, got, out)
		}
	}

	t.Run("the pod that is named gets none either", func(t *testing.T) {
		_, errOut := kubectlWhy(t, "of-tenants", "-n", "tenant", "--kubeconfig", withToken, "--scheduler", "tenant/thief")
		got := th.taken()
		if len(got) != 1 || c.accepts(t, got[0]) {
			t.Errorf("it gets %q: %s", got, errOut)
		}
		testkit.Has(t, errOut, "The certificate of pod tenant/thief is not checked, so no token of yours is sent: it gets a token of ten minutes.", "pod tenant/thief answers 307")
	})
	t.Run("who has another certificate gets nothing", func(t *testing.T) {
		authority := filepath.Join(t.TempDir(), "ca.crt")
		testkit.Must(t, os.WriteFile(authority, c.AdminConfig().CAData, 0o600))
		_, errOut := kubectlWhy(t, "of-tenants", "-n", "tenant", "--kubeconfig", withToken, "--scheduler", "tenant/thief", "--scheduler-certificate-authority", authority)
		if got := th.taken(); got != nil || !strings.Contains(errOut, "certificate") {
			t.Errorf("it gets %q: %s", got, errOut)
		}
	})
}

// useToken returns a copy of a kubeconfig that has a token instead of the certificate.
func useToken(t *testing.T, file, token string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(file)
	testkit.Must(t, err)
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &api.AuthInfo{Token: token}
	}
	file = filepath.Join(t.TempDir(), "kubeconfig")
	testkit.Must(t, clientcmd.WriteToFile(*config, file))
	return file
}

// commandsAreListed fails where a command that takes a kubeconfig is not in the tables above.
func commandsAreListed(t *testing.T) {
	t.Helper()
	listed := regexp.MustCompile(`(?m)^  ([a-z]+)  +[A-Z]`)
	_, commands, _ := strings.Cut(runSimulator(t, "--help"), "Available Commands:")
	commands, _, _ = strings.Cut(commands, "Flags:")
	for _, match := range listed.FindAllStringSubmatch(commands, -1) {
		_, known := hostileWhatIfs[match[1]]
		reads := strings.Contains(runSimulator(t, match[1], "--help"), "--kubeconfig string")
		testkit.Equal(t, known, reads, "simulator %s is in the table, and reads a cluster", match[1])
	}
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	kubectl.Run(t.Context(), []string{"--help"}, streams)
	_, commands, _ = strings.Cut(out.String(), "Available Commands:")
	commands, _, _ = strings.Cut(commands, "Flags:")
	all := listed.FindAllStringSubmatch(commands, -1)
	if len(all) < len(hostileKubectl) {
		t.Errorf("kubectl regex lists %d commands: %s", len(all), out)
	}
	for _, match := range all {
		if _, known := hostileKubectl[match[1]]; !known && !slices.Contains([]string{"completion", "help", "version"}, match[1]) {
			t.Errorf("kubectl regex %s is not in the table", match[1])
		}
	}
}

// accepts reports whether the API server authenticates requests with an Authorization header. The header may be empty.
func (c *liveCluster) accepts(t *testing.T, header string) bool {
	t.Helper()
	token, ok := strings.CutPrefix(header, "Bearer ")
	if !ok || token == adminsToken {
		return header != ""
	}
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	review, err := c.AuthenticationV1().TokenReviews().Create(t.Context(), review, metav1.CreateOptions{})
	testkit.Must(t, err)
	return review.Status.Authenticated
}

// runSimulator runs a command of the simulator, and stops it where it serves.
func runSimulator(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	var output testkit.Log
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asSimulator+"=1", "TMPDIR="+t.TempDir())
	cmd.Stdout, cmd.Stderr = &output, &output
	testkit.Must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if strings.HasPrefix(args[0], "--kubeconfig") {
		testkit.EventuallyHas(t, "the simulator serves", output.String, "Ctrl-C")
		testkit.Must(t, cmd.Process.Signal(syscall.SIGTERM))
	}
	err := <-ended
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 2 || err != nil && exit == nil {
		t.Errorf("simulator %v: %v: %s", args, err, output.String())
	}
	return output.String()
}

// writeAll writes what a tenant can write in a namespace.
func (c *liveCluster) writeAll(t *testing.T, namespace string, th *thief) {
	t.Helper()
	text := testkit.ReadFile(t, configs+"hostile.yaml")
	filled := strings.NewReplacer("NAMESPACE", namespace, "HTTPS", th.https, "HTTP", th.http, "AUTHORITY", base64.StdEncoding.EncodeToString(th.ca)).Replace(string(text))
	for _, part := range strings.Split(filled, "\n---\n") {
		object := &unstructured.Unstructured{}
		testkit.Must(t, yaml.Unmarshal([]byte(part), object))
		c.create(t, object)
	}
	for name, scheduler := range hostilePods {
		c.addPod(t, namespace, name, "1m", func(p *v1.Pod) {
			p.Spec.SchedulerName = scheduler
			p.Annotations = map[string]string{
				"scheduler.wasmkwokwizardry.io/regex": "^" + th.http, "scheduler": namespace + "/thief",
				"scheduler.wasmkwokwizardry.io/decisions": "https://" + th.https + decisions.Path,
			}
		})
		pod, err := c.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		testkit.Must(t, err)
		pod.Status.Conditions = []v1.PodCondition{{
			Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable,
			Message: fmt.Sprintf("ask %s/thief at https://%s", namespace, th.https),
		}}
		_, err = c.CoreV1().Pods(namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
		testkit.Must(t, err)
	}
}

// create creates an object of whatever kind.
func (c *liveCluster) create(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	objects, err := dynamic.NewForConfig(c.AdminConfig())
	testkit.Must(t, err)
	mapping, err := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.Discovery())).RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
	testkit.Must(t, err)
	var in dynamic.ResourceInterface = objects.Resource(mapping.Resource)
	if object.GetNamespace() != "" {
		in = objects.Resource(mapping.Resource).Namespace(object.GetNamespace())
	}
	_, err = in.Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
	}
}
