;; A guest that says what it decides by: the pod's annotations (1) and the node's
;; name (2). It lets "n" pass.
(module $decides_by
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (func (export "decides_by") (result i32) (i32.const 3))
  (func (export "filter") (result i32)
    (drop (call $current_node_name (i32.const 0) (i32.const 253)))
    (select (i32.const 0) (i32.const 3)
      (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x6e)))))
