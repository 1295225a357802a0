;; A guest that filters and keeps account, in its memory: of the six letters that
;; the pod's name must have, from PreFilter; and for each pod added or removed, of
;; + or - and the first letter of its name. Filter tells the account.
(module $remember
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "targetPod" (func $target_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (memory (export "memory") 2 2)
  (global $end (mut i32) (i32.const 0)) ;; of the account, which begins at 0
  (func (export "prefilter") (result i32)
    (drop (call $current_pod (i32.const 1024) (i32.const 65536)))
    (memory.copy (i32.const 0) (i32.const 1028) (i32.const 6))
    (global.set $end (i32.const 6))
    (i32.const 0))
  (func $note (param $sign i32)
    (drop (call $target_pod (i32.const 1024) (i32.const 65536)))
    (i32.store8 (global.get $end) (local.get $sign))
    (i32.store8 offset=1 (global.get $end) (i32.load8_u (i32.const 1028)))
    (global.set $end (i32.add (global.get $end) (i32.const 2))))
  (func (export "addpod") (result i32) (call $note (i32.const 0x2b)) (i32.const 0))
  (func (export "removepod") (result i32) (call $note (i32.const 0x2d)) (i32.const 0))
  (func (export "filter") (result i32)
    (call $status_reason (i32.const 0) (global.get $end))
    (i32.const 2)))
