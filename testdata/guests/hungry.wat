;; A guest that may have 4 GiB by its own declaration, and asks for 16 MiB more in
;; each Filter of a node that begins with "m". When it gets none, it traps.
(module $hungry
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (memory (export "memory") 1 65536)
  (func $filter (export "filter") (result i32)
    (drop (call $current_node_name (i32.const 0) (i32.const 253)))
    (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x6d)) ;; m
      (then
        (if (i32.eq (memory.grow (i32.const 256)) (i32.const -1))
          (then (unreachable)))))
    (i32.const 0)))
