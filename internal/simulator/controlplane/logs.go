package controlplane

import (
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	_ "unsafe" // for go:linkname

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/grpclog"
	_ "k8s.io/apiserver/pkg/storage/storagebackend/factory" // has etcdClientLogger
	"k8s.io/klog/v2"
)

// logFile is what all loggers write to: each is one for the process. It is nil at times,
// since goroutines of Kubernetes outlive their server by moments.
var logFile atomic.Pointer[os.File]

type logWriter struct{}

// Write never fails: a full disk must not turn a log line into a crash.
func (logWriter) Write(p []byte) (int, error) {
	file := logFile.Load()
	if file != nil {
		_, _ = file.Write(p)
	}
	return len(p), nil
}

// openLog has all that is logged written to a file, until done.
func openLog(path string) (done func() error, err error) {
	TakeLoggers()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log file: %w", err)
	}
	logFile.Store(file)
	return func() error {
		logFile.CompareAndSwap(file, nil)
		return file.Close()
	}, nil
}

func zapLogger(name string) *zap.Logger {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewConsoleEncoder(config)
	return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(logWriter{}), zap.WarnLevel)).Named(name)
}

// etcdClientLogger is kube-apiserver's logger for its etcd clients. It is made
// when the program starts, writes to the console, and no option reaches it.
//
//go:linkname etcdClientLogger k8s.io/apiserver/pkg/storage/storagebackend/factory.etcd3ClientLogger
var etcdClientLogger *zap.Logger

// These two may only be set before their first use.
func init() {
	etcdClientLogger = zapLogger("etcd-client")
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, logWriter{}))
}

var takeKlog sync.Once

// TakeLoggers turns klog from the console to the log of the cluster that runs,
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
			klog.SetOutputBySeverity(severity, logWriter{})
		}
	})
}
