;; A guest that is built as a library: it has _initialize in place of _start, and
;; lets pods run only once that was called.
(module $initialize
  (memory (export "memory") 1 1)
  (global $initialized (mut i32) (i32.const 0))
  (func (export "_initialize") (global.set $initialized (i32.const 1)))
  (func (export "filter") (result i32)
    (select (i32.const 0) (i32.const 2) (global.get $initialized))))
