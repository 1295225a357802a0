;; A guest that declares to decide by an annotation of the pod. PreScore skips a pod
;; whose message holds "skip", and sets the score of others to 1 more than before: a
;; score shows how often PreScore was called in this instance.
(module $decides_by_prescore
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (memory (export "memory") 2 2)
  (data (i32.const 512) "pod.metadata.annotations['a']\00")
  (global $calls (mut i32) (i32.const 0))
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 512) (i64.const 32)) (i64.const 30)))
  (func (export "prescore") (result i32)
    (local $at i32) (local $end i32)
    (local.set $at (i32.const 1024))
    (local.set $end (i32.add (call $current_pod (i32.const 1024) (i32.const 65536)) (i32.const 1020)))
    (loop $next
      (if (i32.eq (i32.load (local.get $at)) (i32.const 0x70696b73)) (then (return (i32.const 5))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (i32.const 0))
  (func (export "score") (result i64)
    (i64.shl (i64.extend_i32_u (global.get $calls)) (i64.const 32))))
