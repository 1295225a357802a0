;; A guest that filters and permits, and has no other hook of the binding cycle.
(module $filter_permit_active
  (memory (export "memory") 1 1)
  (global $permitted (mut i32) (i32.const 0))
  (func (export "filter") (result i32) (i32.const 0))
  (func (export "permit") (result i64)
    (global.set $permitted (i32.add (global.get $permitted) (i32.const 1)))
    (i64.const 0)))
