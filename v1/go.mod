module wasmkwokwizardry.io/regex-scheduling/v1

go 1.25.0

require (
	sigs.k8s.io/kube-scheduler-wasm-extension/guest v0.0.0-20250121124236-cb3868918ec5
	wasmkwokwizardry.io/regex-scheduling/regex v0.0.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20250211171154-1ae217ad3535 // indirect
	google.golang.org/protobuf v1.35.1 // indirect
	sigs.k8s.io/kube-scheduler-wasm-extension/kubernetes/proto v0.0.0-20241112173246-b1ba8000d50e // indirect
)

replace (
	sigs.k8s.io/kube-scheduler-wasm-extension/kubernetes/proto => sigs.k8s.io/kube-scheduler-wasm-extension/kubernetes/proto v0.0.0-20241112173246-b1ba8000d50e
	wasmkwokwizardry.io/regex-scheduling/regex => ../regex
)
