;; A guest that declares to decide by nothing, but counts what it reserves.
(module $decides_by_reserve
  (memory (export "memory") 1 1)
  (func (export "decides_by") (result i64) (i64.const 0))
  (func (export "filter") (result i32) (i32.load (i32.const 8)))
  (func (export "reserve") (result i32)
    (i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1)))
    (i32.const 0)))
