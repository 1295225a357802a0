package wasmhost

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
)

// What the instances of a guest may log, all together: a disk is full soon otherwise.
const (
	logPeriod = 10 * time.Second
	maxLogged = 1 << 20 // bytes in each period
)

// lineBytes is about what klog writes before a line.
const lineBytes = 60

// guestLog writes what the guests of a plugin log, one after another. Lines that are too many are dropped, and counted.
type guestLog struct {
	plugin, url string

	mu      sync.Mutex
	began   time.Time // of the period
	bytes   int       // that were logged in it
	dropped int       // lines in it
}

// logOf is the log of the guests of a plugin.
func (h *Host) logOf(plugin, url string) *guestLog {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := plugin + " " + url
	if h.logs[key] == nil {
		h.logs[key] = &guestLog{plugin: plugin, url: url}
	}
	return h.logs[key]
}

func (l *guestLog) write(severity int32, msg string, kvs []string) {
	size := lineBytes + len(msg)
	for _, text := range kvs {
		size += len(text)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.began) >= logPeriod {
		l.begin()
	}
	l.bytes += size
	if l.bytes > maxLogged {
		l.dropped++
		return
	}
	logGuest(severity, msg, kvs)
}

// begin begins a period, and says how many lines were dropped in the one before. The log must
// be locked, here and below.
func (l *guestLog) begin() {
	l.tell()
	l.began = time.Now()
	l.bytes = 0
}

// tell says how many lines were dropped.
func (l *guestLog) tell() {
	if l.dropped > 0 {
		klog.InfoS("Dropped log lines of the Wasm guest: it logs too much", "plugin", l.plugin, "guest", l.url, "lines", l.dropped, "bytesLogged", maxLogged, "in", logPeriod)
	}
	l.dropped = 0
}

// close says what is left to say.
func (l *guestLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell()
}

// logGuest writes what a guest logs.
func logGuest(severity int32, msg string, kvs []string) {
	var values []any
	for _, v := range kvs {
		values = append(values, v)
	}
	switch {
	case severity < abi.SeverityWarning && kvs == nil:
		klog.Info(msg)
	case severity < abi.SeverityWarning:
		klog.InfoS(msg, values...)
	case severity < abi.SeverityError:
		klog.Warning(msg + inPairs(kvs)) // klog has no structured warnings
	case kvs == nil:
		klog.Error(msg) // of the severity fatal, too: no guest ends the scheduler
	default:
		klog.ErrorS(nil, msg, values...)
	}
}

// inPairs writes keys and values as klog does.
func inPairs(kvs []string) string {
	var b strings.Builder
	for pair := range slices.Chunk(kvs, 2) {
		if len(pair) == 2 {
			fmt.Fprintf(&b, " %s=%q", pair[0], pair[1])
		}
	}
	return b.String()
}
