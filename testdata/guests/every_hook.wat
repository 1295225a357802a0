;; A guest with a share in every part of a cycle, that has nothing against
;; anything and leaves the binding to others.
(module $every_hook
  (memory (export "memory") 1 1)
  (func (export "prefilter") (result i32) (i32.const 0))
  (func (export "filter") (result i32) (i32.const 0))
  (func (export "postfilter") (result i64) (i64.const 0))
  (func (export "prescore") (result i32) (i32.const 0))
  (func (export "score") (result i64) (i64.const 0))
  (func (export "normalizescore") (result i32) (i32.const 0))
  (func (export "reserve") (result i32) (i32.const 0))
  (func (export "unreserve"))
  (func (export "permit") (result i64) (i64.const 0))
  (func (export "prebind") (result i32) (i32.const 0))
  (func (export "bind") (result i32) (i32.const 5))
  (func (export "postbind")))
