module example.com/not-gpu

go 1.25.0

require sigs.k8s.io/kube-scheduler-wasm-extension/guest v0.0.0-20250121124236-cb3868918ec5

require (
	google.golang.org/protobuf v1.30.0 // indirect
	sigs.k8s.io/kube-scheduler-wasm-extension/kubernetes/proto v0.0.0-00010101000000-000000000000 // indirect
)

// The SDK names a version of this that does not exist.
replace sigs.k8s.io/kube-scheduler-wasm-extension/kubernetes/proto => sigs.k8s.io/kube-scheduler-wasm-extension/kubernetes/proto v0.0.0-20241112173246-b1ba8000d50e
