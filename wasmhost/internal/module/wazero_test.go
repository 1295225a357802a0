package module

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// valid is nil of a module that wazero takes. It compiles for the interpreter, which takes less time.
func valid(wasm []byte) (err error) {
	defer func() {
		panicked := recover()
		if panicked != nil {
			err = fmt.Errorf("wazero: %v", panicked)
		}
	}()
	runtime := wazero.NewRuntimeWithConfig(context.Background(), wazero.NewRuntimeConfigInterpreter())
	defer runtime.Close(context.Background())
	_, err = runtime.CompileModule(context.Background(), wasm)
	return err
}

// instance is a guest that runs, compiled.
type instance struct {
	api.Module
	runtime wazero.Runtime
}

func instantiate(t testing.TB, wasm []byte) instance {
	t.Helper()
	ctx := t.Context()
	i := instance{runtime: wazero.NewRuntime(ctx)}
	wasi_snapshot_preview1.MustInstantiate(ctx, i.runtime)
	klog := i.runtime.NewHostModuleBuilder("k8s.io/klog").NewFunctionBuilder().WithFunc(func() int32 { return 1 }).Export("severity")
	if _, err := klog.Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	var err error
	i.Module, err = i.runtime.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig().WithStartFunctions())
	testkit.Must(t, err)
	return i
}

// call calls a function once: the instance is closed then.
func (i instance) call(t testing.TB, function string) (int32, error) {
	t.Helper()
	defer i.runtime.Close(context.Background())
	results, err := i.ExportedFunction(function).Call(t.Context())
	if err != nil || len(results) == 0 {
		return 0, err
	}
	return int32(results[0]), nil
}

// filter is what filter of a guest answers.
func filter(t testing.TB, wasm []byte) int32 {
	t.Helper()
	answer, err := instantiate(t, wasm).call(t, "filter")
	testkit.Must(t, err)
	return answer
}

// errLate is of a guest that did not end in time.
var errLate = errors.New("it did not end in time")

// stop calls filter of a guest, stops it after some milliseconds, and returns errLate if it then uses a second
// of CPU time: the machine may be busy with others.
func stop(t testing.TB, wasm []byte) error {
	t.Helper()
	prepared, err := Prepare(wasm, true)
	testkit.Must(t, err)
	i := instantiate(t, prepared.Wasm)
	flag := i.ExportedGlobal(StopGlobal).(api.MutableGlobal)
	stopped := make(chan time.Duration, 1)
	timer := time.AfterFunc(5*time.Millisecond, func() {
		flag.Set(1)
		stopped <- cpuTime()
	})
	_, err = i.call(t, "filter")
	if !timer.Stop() && cpuTime()-<-stopped > time.Second {
		return errLate
	}
	return err
}

// cpuTime is what the process has used.
func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
