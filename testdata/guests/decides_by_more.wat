;; A guest that decides by something that the host does not know (4), too.
(module $decides_by_more
  (memory (export "memory") 1 1)
  (func (export "decides_by") (result i32) (i32.const 5))
  (func (export "filter") (result i32) (i32.const 0)))
