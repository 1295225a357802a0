;; A guest that declares to decide by the node's name, but rejects the first three
;; that it is asked about, and no others.
(module $decides_by_late
  (memory (export "memory") 1 1)
  (data (i32.const 1024) "node.metadata.name\00")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 1024) (i64.const 32)) (i64.const 19)))
  (func (export "filter") (result i32)
    (i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1)))
    (select (i32.const 0) (i32.const 3) (i32.gt_u (i32.load (i32.const 0)) (i32.const 3)))))
