;; A guest that declares to decide by an annotation of the pod and the node's name,
;; and traps for every node.
(module $decides_by_trap
  (memory (export "memory") 1 1)
  (data (i32.const 1024) "pod.metadata.annotations['a']\00node.metadata.name\00")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 1024) (i64.const 32)) (i64.const 49)))
  (func (export "filter") (result i32) (unreachable)))
