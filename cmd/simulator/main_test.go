package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// terminal is an output that a test can wait on.
type terminal struct {
	mu   sync.Mutex
	text bytes.Buffer
	seen *regexp.Regexp
	hit  chan []string // the first match of seen, with its groups
}

func await(pattern string) *terminal {
	return &terminal{seen: regexp.MustCompile(pattern), hit: make(chan []string, 1)}
}

func (o *terminal) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	if match := o.seen.FindStringSubmatch(o.text.String()); match != nil && len(o.hit) == 0 {
		o.hit <- match
	}
	return len(p), nil
}

// session is a simulator that serves until stopped.
type session struct {
	kubeconfig string
	stop       func() (code int)
}

func begin(t *testing.T, args ...string) session {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, exit := await(`kubeconfig +(\S+)[\s\S]*Ctrl-C stops everything`), make(chan int, 1)
	go func() { exit <- run(ctx, append(args, "--api-port=0"), out, out) }()
	stop := sync.OnceValue(func() int { cancel(); return <-exit })
	t.Cleanup(func() { stop() })
	select {
	case match := <-out.hit:
		return session{kubeconfig: match[1], stop: stop}
	case code := <-exit:
		exit <- code
		t.Fatalf("ended with code %d:\n%s", code, out.text.String())
		return session{}
	}
}

// namespaces uses the cluster as kubectl would: by the kubeconfig alone.
func namespaces(t *testing.T, kubeconfig string) []string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	list, err := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.Name)
	}
	return names
}

func TestASimulatorServesUntilItIsStoppedAndLeavesNothing(t *testing.T) {
	s := begin(t)
	if got := namespaces(t, s.kubeconfig); len(got) == 0 {
		t.Error("a cluster without namespaces")
	}
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat(filepath.Dir(s.kubeconfig)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the data directory is still there: %v", err)
	}
}

func TestADataDirKeepsTheCluster(t *testing.T) {
	dir := t.TempDir()
	first := begin(t, "--data-dir", dir)
	before := namespaces(t, first.kubeconfig)
	config, err := clientcmd.BuildConfigFromFlags("", first.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	team := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}
	if _, err := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().Create(t.Context(), team, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	first.stop()
	after := namespaces(t, begin(t, "--data-dir", dir, "--door", "native").kubeconfig)
	if len(after) != len(before)+1 || !strings.Contains(strings.Join(after, " "), "team-a") {
		t.Errorf("before %v, after %v", before, after)
	}
}

func TestBadFlagsStopTheStart(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--door", "v3"}, `no door "v3": choose one of [v1 v2 native]`},
		{[]string{"walkthrough", "--door", "v3"}, `no door "v3": choose one of [v1 v2 native]`},
		{[]string{"--dor", "v2"}, "unknown flag: --dor"},
		{[]string{"v2"}, `unknown command "v2"`},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), tc.args, &stdout, &stderr)
		if code != 1 || !strings.Contains(stderr.String(), tc.want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%v: exit code %d, %q", tc.args, code, stderr.String())
		}
	}
}
