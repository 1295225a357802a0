;; A guest that asks for resources in whole objects. filter tells of the node, and then of the pod: "C" where it says that it is complete, and
;; the amounts of the resource "example.com/gpu", in the order of their fields.
(module $resources
  (import "k8s.io/api" "node" (func $node (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName" (func $node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $reason (param i32 i32)))
  (memory (export "memory") 2 2)
  (global $end (mut i32) (i32.const 0)) ;; of the reason
  (func (export "sees_resources"))
  (func $letter (param $letter i32)
    (i32.store8 (global.get $end) (local.get $letter))
    (global.set $end (i32.add (global.get $end) (i32.const 1))))
  ;; The field 1000 begins with c2 3e, its complete is 08 01, and an amount of less than 128 follows the "gpu" and 10.
  (func $tell (param $size i32)
    (local $at i32) (local $field i32)
    (local.set $at (i32.const 1024))
    (loop $next
      (if (i32.eq (i32.load16_u (local.get $at)) (i32.const 0x3ec2)) (then (local.set $field (i32.const 1))))
      (if (i32.and (local.get $field) (i32.eq (i32.load16_u (local.get $at)) (i32.const 0x0108))) (then (call $letter (i32.const 0x43))))
      (if (i32.and (local.get $field) (i32.eq (i32.load (local.get $at)) (i32.const 0x10757067)))
        (then (call $letter (i32.add (i32.const 0x30) (i32.load8_u offset=4 (local.get $at))))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (i32.add (i32.const 1024) (local.get $size)))))
    (memory.fill (i32.const 1024) (i32.const 0) (i32.const 65536)))
  (func (export "filter") (result i32)
    (global.set $end (i32.const 0))
    (call $tell (call $node (i32.const 512) (call $node_name (i32.const 512) (i32.const 253)) (i32.const 1024) (i32.const 65536)))
    (call $letter (i32.const 0x20))
    (call $tell (call $current_pod (i32.const 1024) (i32.const 65536)))
    (call $reason (i32.const 0) (global.get $end))
    (i32.const 2)))
