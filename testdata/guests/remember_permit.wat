;; A guest with a share in reserve, permit and binding, that keeps account of what
;; was called since PreFilter: the six letters that the pod's name must have, and R
;; for Reserve, P for Permit, B for PreBind. Filter, PreBind and, in the log,
;; Unreserve tell the account.
(module $remember_permit
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (memory (export "memory") 2 2)
  (global $end (mut i32) (i32.const 0)) ;; of the account, which begins at 0
  (func (export "prefilter") (result i32)
    (drop (call $current_pod (i32.const 1024) (i32.const 65536)))
    (memory.copy (i32.const 0) (i32.const 1028) (i32.const 6))
    (global.set $end (i32.const 6))
    (i32.const 0))
  (func $note (param $letter i32)
    (i32.store8 (global.get $end) (local.get $letter))
    (global.set $end (i32.add (global.get $end) (i32.const 1))))
  (func $tell (result i32)
    (call $status_reason (i32.const 0) (global.get $end))
    (i32.const 2))
  (func (export "filter") (result i32) (call $tell))
  (func (export "reserve") (result i32) (call $note (i32.const 0x52)) (i32.const 0))
  (func (export "permit") (result i64) (call $note (i32.const 0x50)) (i64.const 0))
  (func (export "prebind") (result i32) (call $note (i32.const 0x42)) (call $tell))
  (func (export "unreserve") (call $log (i32.const 0) (i32.const 0) (global.get $end))))
