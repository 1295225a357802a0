;; A guest that declares to decide by an annotation of the pod and the name of the node: it traps for one
;; that begins with b, rejects one that begins with m, and lets the pod run on others.
(module $decides_by_bad_node
  (import "k8s.io/scheduler" "currentNodeName" (func $n (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 1024) "pod.metadata.annotations['a']\00node.metadata.name\00")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 1024) (i64.const 32)) (i64.const 49)))
  (func (export "filter") (result i32)
    (drop (call $n (i32.const 0) (i32.const 253)))
    (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x62)) (then (unreachable)))
    (if (result i32) (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x6d)) (then (i32.const 2)) (else (i32.const 0)))))
