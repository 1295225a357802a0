package controlplane

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestKeptDataDirectoryKeepsTheCluster(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30)) // too long for a socket
	first, err := Start(t.Context(), Config{DataDir: dir})
	testkit.Must(t, err)
	old := first.AdminConfig()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}
	if _, err := clientOf(t, old).CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = Start(t.Context(), Config{DataDir: dir})
	testkit.ErrorHas(t, err, "in use by another cluster")
	port, err := strconv.Atoi(first.Host()[strings.LastIndex(first.Host(), ":")+1:])
	testkit.Must(t, err)
	_, err = Start(t.Context(), Config{Port: port})
	testkit.ErrorHas(t, err, strconv.Itoa(port))
	stopCluster(t, first)

	second, err := Start(t.Context(), Config{DataDir: dir, Port: port})
	testkit.Must(t, err)
	defer stopCluster(t, second)
	if second.Host() != first.Host() {
		t.Errorf("served on %s, want %s", second.Host(), first.Host())
	}
	// Its certificates are still good, too.
	if _, err := clientOf(t, old).CoreV1().Nodes().Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

func TestStopDoesNotWaitForWatchersAndLeavesNothing(t *testing.T) {
	testkit.EmptyTemp(t)
	c, err := Start(t.Context(), Config{})
	testkit.Must(t, err)
	for range 20 { // each on a connection of its own, as other programs would
		config, err := c.ClientConfig("watcher", "system:masters")
		testkit.Must(t, err)
		watcher, err := clientOf(t, config).CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
		testkit.Must(t, err)
		defer watcher.Stop()
	}
	stopCluster(t, c) // past stopTime, it would be an error
	stopCluster(t, c) // again
	if conn, err := net.Dial("tcp", strings.TrimPrefix(c.Host(), "https://")); err == nil {
		conn.Close()
		t.Error("the port still answers")
	}
}

func TestEtcdsDeathIsReported(t *testing.T) {
	c, err := Start(t.Context(), Config{})
	testkit.Must(t, err)
	if c.Err() != nil {
		t.Errorf("a running cluster says %v", c.Err())
	}
	c.etcd.etcd.Server.HardStop()
	testkit.EventuallyReceives(t, "the end of etcd is noticed", c.Done())
	err = c.Stop()
	testkit.ErrorHas(t, err, "etcd ended on its own")
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	testkit.EmptyTemp(t)
	for _, step := range []string{"etcd", "kube-apiserver", "controllers"} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Start(ctx, Config{Progress: func(s string) {
			if strings.Contains(s, step) {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled while starting %s: %v", step, err)
		}
	}
}
