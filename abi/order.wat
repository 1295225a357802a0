;; A guest that keeps a letter of each call of its first instance, which is its only one: filter tells them. What comes at the
;; start traps when it comes again, or after what it must come before.
(module $order
  (import "k8s.io/scheduler" "result.status_reason" (func $reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (global $end (mut i32) (i32.const 0))
  (func $call (param $letter i32)
    (i32.store8 (global.get $end) (local.get $letter))
    (global.set $end (i32.add (global.get $end) (i32.const 1))))
  (global $last (mut i32) (i32.const 0)) ;; which of the calls at the start was the last
  (func $at_start (param $number i32) (param $letter i32)
    (if (i32.le_u (local.get $number) (global.get $last)) (then (unreachable)))
    (global.set $last (local.get $number))
    (call $call (local.get $letter)))
  (func $start_function (call $at_start (i32.const 1) (i32.const 0x73))) ;; s
  (start $start_function)
  (func (export "_start") (call $at_start (i32.const 2) (i32.const 0x74))) ;; t
  (func (export "_initialize") (call $at_start (i32.const 3) (i32.const 0x69))) ;; i
  (func (export "decides_by") (result i64) (call $at_start (i32.const 4) (i32.const 0x64)) (i64.const 0)) ;; d
  (func (export "enqueue") (call $at_start (i32.const 5) (i32.const 0x65))) ;; e
  (func (export "prefilter") (result i32) (call $call (i32.const 0x70)) (i32.const 0)) ;; p
  (func (export "filter") (result i32)
    (call $reason (i32.const 0) (global.get $end))
    (i32.const 2))
  (func (export "reserve") (result i32) (call $call (i32.const 0x72)) (i32.const 0)))
