;; A guest that could act on the scheduler, and counts the calls of filter, which take a while: each tells how many there were.
(module $counts_handle
  (import "k8s.io/scheduler" "handle.get_waiting_pod" (func $waiting (param i32 i32 i32 i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 0) "0")
  (func (export "filter") (result i32)
    (local $left i32)
    (call $waiting (i32.const 0) (i32.const 1) (i32.const 8) (i32.const 8))
    (local.set $left (i32.const 1000000))
    (loop $on (br_if $on (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
    (i32.store8 (i32.const 0) (i32.add (i32.load8_u (i32.const 0)) (i32.const 1)))
    (call $reason (i32.const 0) (i32.const 1))
    (i32.const 2)))
