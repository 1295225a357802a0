package wasmhost

import (
	"context"
	"fmt"
	"os"

	"k8s.io/kubernetes/pkg/scheduler/framework"
	upstream "sigs.k8s.io/kube-scheduler-wasm-extension/scheduler/plugin"
)

// source is all that it takes to start a guest, again and again.
type source struct {
	plugin string
	wasm   []byte
	args   Args
	handle framework.Handle // nil while a guest is only checked
}

// start makes a plugin of the upstream host. That host fetches its guest
// itself, so it is given a private file, which is gone when start returns.
func (s source) start(ctx context.Context) (framework.Plugin, error) {
	path, err := keep(s.wasm)
	if err != nil {
		return nil, fmt.Errorf("keeping the guest in a temporary file: %w", err)
	}
	defer os.Remove(path)
	return upstream.NewFromConfig(ctx, s.plugin, upstream.PluginConfig{
		GuestURL:    "file://" + path,
		GuestConfig: s.args.GuestConfig,
		LogSeverity: s.args.LogSeverity,
	}, s.handle)
}

// keep writes a file that only this user can read.
func keep(wasm []byte) (path string, err error) {
	f, err := os.CreateTemp("", "guest-*.wasm")
	if err != nil {
		return "", err
	}
	_, err = f.Write(wasm)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}
