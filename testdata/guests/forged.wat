;; A guest that writes to those who look at it: the names of an export and of a declared label would clear
;; the screen, and add a row.
(module $forged
  (memory (export "memory") 1 1)
  (data (i32.const 0) "node.metadata.labels['a\1b[2J\0amemory  none']\00")
  (func (export "a\1b[2J\0asize        1 byte"))
  (func (export "decides_by") (result i64) (i64.const 43))
  (func (export "filter") (result i32) (i32.const 0)))
