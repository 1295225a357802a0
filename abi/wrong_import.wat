;; An import of another shape.
(module $wrong_import
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32) (result i32)))
  (memory (export "memory") 1 1)
  (func (export "filter") (result i32) (call $current_pod (i32.const 0))))
