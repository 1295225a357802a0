;; A guest that declares to decide by an annotation of the pod and the node's name, and
;; rejects every node. But it also looks into the pod: where there is a "!" it traps, and
;; where there is a "?" it does not return.
(module $decides_by_less
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 1024) "pod.metadata.annotations['a']\00node.metadata.name\00")
  (data (i32.const 2048) "another letter")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 1024) (i64.const 32)) (i64.const 49)))
  (func (export "filter") (result i32)
    (local $left i32) (local $byte i32)
    (local.set $left (call $current_pod (i32.const 4096) (i32.const 8192)))
    (loop $next
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (local.set $byte (i32.load8_u offset=4096 (local.get $left)))
      (if (i32.eq (local.get $byte) (i32.const 0x21)) (then (unreachable)))
      (loop $hang (br_if $hang (i32.eq (local.get $byte) (i32.const 0x3f))))
      (br_if $next (local.get $left)))
    (call $status_reason (i32.const 2048) (i32.const 14))
    (i32.const 3)))
