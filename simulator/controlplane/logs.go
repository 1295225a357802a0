package controlplane

import (
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	_ "unsafe" // for go:linkname

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/grpclog"
	_ "k8s.io/apiserver/pkg/storage/storagebackend/factory" // has etcdClientLogger
	"k8s.io/klog/v2"
)

// shared is where all loggers write. Most are one per process and can't tell
// clusters apart, so the log of every cluster gets all.
var shared = &fanOut{to: map[*io.Writer]struct{}{}}

// fanOut writes to every writer that is there, and to nobody when none is: goroutines
// of Kubernetes outlive their server by moments.
type fanOut struct {
	mu sync.Mutex
	to map[*io.Writer]struct{}
}

// Write never fails: a full disk must not turn a log line into a crash.
func (f *fanOut) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.to {
		_, _ = (*w).Write(p)
	}
	return len(p), nil
}

// add has all that is logged written to w, too, until remove.
func (f *fanOut) add(w io.Writer) (remove func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to[&w] = struct{}{}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.to, &w)
	}
}

func openLogs(to io.Writer, path string) (done func() error, err error) {
	TakeLoggers()
	closed := func() error { return nil }
	if to == nil {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("log file: %w", err)
		}
		to, closed = file, file.Close
	}
	remove := shared.add(to)
	return func() error {
		remove()
		return closed()
	}, nil
}

func zapLogger(name string) *zap.Logger {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewConsoleEncoder(config)
	return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(shared), zap.WarnLevel)).Named(name)
}

// etcdClientLogger is kube-apiserver's logger for its etcd clients. It is made
// when the program starts, writes to the console, and no option reaches it.
//
//go:linkname etcdClientLogger k8s.io/apiserver/pkg/storage/storagebackend/factory.etcd3ClientLogger
var etcdClientLogger *zap.Logger

// These two may only be set before their first use.
func init() {
	etcdClientLogger = zapLogger("etcd-client")
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, shared))
}

var takeKlog sync.Once

// TakeLoggers turns klog from the console to the logs of the clusters that run,
// warnings and errors only, for the rest of the process: goroutines of a stopped
// server may still log, and must not write over the terminal. Start does so too.
func TakeLoggers() {
	takeKlog.Do(func() {
		flags := flag.NewFlagSet("klog", flag.PanicOnError)
		klog.InitFlags(flags)
		// Without one_output, warnings would go to INFO's writer too.
		_ = flags.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL", "-one_output"}) // or it panics
		klog.SetOutputBySeverity("INFO", io.Discard)
		for _, severity := range []string{"WARNING", "ERROR", "FATAL"} {
			klog.SetOutputBySeverity(severity, shared)
		}
	})
}
