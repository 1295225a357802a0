;; A guest whose hooks only return a constant, or nothing.
(module $constants
  (memory (export "memory") 1 1)
  (func (export "prefilter") (result i32) (i32.const 0))
  (func (export "filter") (result i32) (i32.const 2))
  (func (export "prescore") (result i32) (i32.const 0))
  (func (export "score") (result i64) (i64.const 0x700000000))
  (func (export "reserve") (result i32) (i32.const 0))
  (func (export "unreserve"))
  (func (export "permit") (result i64) (i64.const 0))
  (func (export "prebind") (result i32) (i32.const 0))
  (func (export "bind") (result i32) (i32.const 0))
  (func (export "postbind")))
