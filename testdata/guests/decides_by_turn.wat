;; A guest that declares to decide by the node's name, but rejects every other node
;; that it is asked about.
(module $decides_by_turn
  (memory (export "memory") 1 1)
  (data (i32.const 1024) "node.metadata.name\00")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 1024) (i64.const 32)) (i64.const 19)))
  (func (export "filter") (result i32)
    (i32.store (i32.const 0) (i32.xor (i32.load (i32.const 0)) (i32.const 2)))
    (i32.load (i32.const 0))))
