;; A guest that traps on a node whose name begins with "t", and then on every
;; node: an instance that has trapped is never whole again.
(module $trap_filter
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (global $broken (mut i32) (i32.const 0))
  (func $filter (export "filter") (result i32)
    (if (global.get $broken) (then (unreachable)))
    (drop (call $current_node_name (i32.const 0) (i32.const 253)))
    (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x74)) ;; t
      (then (global.set $broken (i32.const 1)) (unreachable)))
    (i32.const 0)))
