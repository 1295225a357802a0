package controlplane

import (
	"flag"
	"io"
	"sync"
	_ "unsafe" // for go:linkname

	"go.uber.org/zap"
	"google.golang.org/grpc/grpclog"
	_ "k8s.io/apiserver/pkg/storage/storagebackend/factory" // has etcdClientLogger
	"k8s.io/klog/v2"
)

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
