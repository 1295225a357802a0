;; A guest that declares to decide by a field that does not exist.
(module $decides_by_what
  (memory (export "memory") 1 1)
  (data (i32.const 0) "pod.metadata.uid\00")
  (func (export "decides_by") (result i64) (i64.const 17))
  (func (export "filter") (result i32) (i32.const 0)))
