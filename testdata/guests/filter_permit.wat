;; A guest that filters and has a share in the binding cycle: it lets every pod
;; pass, but traps on a node whose name begins with "t".
(module $filter_permit
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (func (export "filter") (result i32)
    (drop (call $current_node_name (i32.const 0) (i32.const 253)))
    (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x74)) ;; t
      (then (unreachable)))
    (i32.const 0))
  (func (export "permit") (result i64) (i64.const 0)))
