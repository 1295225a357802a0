;; A guest with more room than it has memory, and with bytes where a number is written. filter passes a node if the pod was
;; written, prefilter a pod if all eight bytes of a 1 were.
(module $room
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "handle.reject_waiting_pod" (func $reject (param i32 i32 i32 i32)))
  (memory (export "memory") 2 2)
  (data (i32.const 0) "uid-other")
  (func (export "prefilter") (result i32)
    (i64.store (i32.const 64) (i64.const -1))
    (call $reject (i32.const 0) (i32.const 9) (i32.const 64) (i32.const 8))
    (select (i32.const 0) (i32.const 3) (i64.eq (i64.load (i32.const 64)) (i64.const 1))))
  (func (export "filter") (result i32)
    (drop (call $current_pod (i32.const 1024) (i32.const -1)))
    (select (i32.const 0) (i32.const 3) (i32.load8_u (i32.const 1024)))))
