;; A guest that says what it decides by: two annotations of the pod, and the node's
;; name. It lets "n" pass.
(module $decides_by
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 1024) "pod.metadata.annotations['a']\00pod.metadata.annotations['b']\00node.metadata.name\00")
  (func (export "decides_by") (result i64) ;; address and size of the list
    (i64.const 0x000004000000004f))
  (func (export "filter") (result i32)
    (drop (call $current_node_name (i32.const 0) (i32.const 253)))
    (select (i32.const 0) (i32.const 3)
      (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x6e)))))
