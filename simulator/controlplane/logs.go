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
var shared = &logFiles{}

// logFiles are those that are open: none at times, since goroutines of Kubernetes
// outlive their server by moments.
type logFiles struct{ open sync.Map }

// Write never fails: a full disk must not turn a log line into a crash.
func (f *logFiles) Write(p []byte) (int, error) {
	for file := range f.open.Range {
		_, _ = file.(*os.File).Write(p)
	}
	return len(p), nil
}

// openLogs has all that is logged written to a file, too, until done.
func openLogs(path string) (done func() error, err error) {
	TakeLoggers()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log file: %w", err)
	}
	shared.open.Store(file, nil)
	return func() error {
		shared.open.Delete(file)
		return file.Close()
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
