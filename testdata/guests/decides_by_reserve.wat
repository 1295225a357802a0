;; A guest that says what it decides by, as decides_by does, but takes part in
;; reserve: what it does there the host cannot know.
(module $decides_by_reserve
  (memory (export "memory") 1 1)
  (data (i32.const 1024) "node.metadata.name\00")
  (func (export "decides_by") (result i64) ;; address and size of the list
    (i64.const 0x0000040000000013))
  (func (export "filter") (result i32) (i32.const 0))
  (func (export "reserve") (result i32) (i32.store (i32.const 0) (i32.const 1)) (i32.const 0)))
