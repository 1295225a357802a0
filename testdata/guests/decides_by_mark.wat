;; A guest that declares to decide by an annotation of the pod and the node's name, as
;; decides_by does. It lets the nodes pass whose name begins with "n", but for a pod with a
;; "!" anywhere in what it gets, those whose name begins with "m".
(module $decides_by_mark
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 1024) "pod.metadata.annotations['a']\00node.metadata.name\00")
  (data (i32.const 2048) "another letter")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 1024) (i64.const 32)) (i64.const 49)))
  (func (export "filter") (result i32)
    (local $left i32) (local $letter i32)
    (local.set $letter (i32.const 0x6e))
    (local.set $left (call $current_pod (i32.const 4096) (i32.const 8192)))
    (loop $next
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (if (i32.eq (i32.load8_u offset=4096 (local.get $left)) (i32.const 0x21))
        (then (local.set $letter (i32.const 0x6d))))
      (br_if $next (local.get $left)))
    (drop (call $current_node_name (i32.const 0) (i32.const 253)))
    (if (i32.eq (i32.load8_u (i32.const 0)) (local.get $letter)) (then (return (i32.const 0))))
    (call $status_reason (i32.const 2048) (i32.const 14))
    (i32.const 3)))
