package scenario

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
)

// Notes are a guest's effects on the scheduler around it.
type Notes struct {
	mu    sync.Mutex
	lines []string
}

// Add adds a line.
func (n *Notes) Add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

func (n *Notes) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines := n.lines
	n.lines = nil
	return lines
}

// Eventf is the method of an EventRecorder.
func (n *Notes) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	n.Add("event %s %s %s: %s, regarding %s, related to %s",
		kind, reason, action, fmt.Sprintf(note, args...), reference(regarding), reference(related))
}

func reference(object runtime.Object) string {
	ref, ok := object.(*v1.ObjectReference)
	if !ok || ref == nil || *ref == (v1.ObjectReference{}) {
		return "nothing"
	}
	return strings.Join([]string{ref.APIVersion, ref.Kind, ref.Namespace, ref.Name, string(ref.UID), ref.ResourceVersion}, "/")
}

// listen adds what is logged, until the function that it returns is called. Logs
// are the process's: scenarios run one after another.
func (n *Notes) listen() (stop func()) {
	klog.SetLogger(logr.New(sink{n}))
	return klog.ClearLogger
}

// Quiet is a context without a logger: a host's own log is not compared.
func Quiet(ctx context.Context) context.Context { return klog.NewContext(ctx, logr.Discard()) }

// sink notes the messages of guests, with their pairs.
type sink struct{ notes *Notes }

func (sink) Init(logr.RuntimeInfo) {}

func (sink) Enabled(int) bool { return true }

func (s sink) Info(_ int, message string, pairs ...any) {
	s.notes.Add("logs %q%s", message, keysAndValues(pairs))
}

func (s sink) Error(_ error, message string, pairs ...any) {
	s.notes.Add("logs the error %q%s", message, keysAndValues(pairs))
}

func (s sink) WithValues(...any) logr.LogSink { return s }

func (s sink) WithName(string) logr.LogSink { return s }

func keysAndValues(pairs []any) string {
	var text strings.Builder
	for i, one := range pairs {
		text.WriteString([]string{" ", "="}[i%2])
		fmt.Fprintf(&text, "%v", one)
	}
	return text.String()
}
