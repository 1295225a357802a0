;; A guest that says what it decides by, as decides_by does, but takes part in
;; reserve: what it does there the host cannot know.
(module $decides_by_reserve
  (memory (export "memory") 1 1)
  (func (export "decides_by") (result i32) (i32.const 3))
  (func (export "filter") (result i32) (i32.const 0))
  (func (export "reserve") (result i32) (i32.const 0)))
