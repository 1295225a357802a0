;; A guest that takes part in binding. PreFilter keeps the pod's name, of six letters; Filter and
;; PreBind tell it, and PreBind traps where it begins with t.
(module $trap_prebind
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (memory (export "memory") 2 2)
  (func (export "prefilter") (result i32)
    (drop (call $current_pod (i32.const 1024) (i32.const 65536)))
    (memory.copy (i32.const 0) (i32.const 1028) (i32.const 6))
    (i32.const 0))
  (func $tell (result i32)
    (call $status_reason (i32.const 0) (i32.const 6))
    (i32.const 2))
  (func (export "filter") (result i32) (call $tell))
  (func (export "permit") (result i64) (i64.const 0))
  (func (export "prebind") (result i32)
    (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x74)) (then (unreachable)))
    (call $tell)))
