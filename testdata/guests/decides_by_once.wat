;; A guest that declares to decide by the node's name, and rejects every node. An instance
;; of it traps when it is asked for a second time, as one does that runs out of memory.
(module $decides_by_once
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 1024) "node.metadata.name\00")
  (data (i32.const 2048) "another letter")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 1024) (i64.const 32)) (i64.const 19)))
  (func (export "filter") (result i32)
    (if (i32.load (i32.const 0)) (then (unreachable)))
    (i32.store (i32.const 0) (i32.const 1))
    (call $status_reason (i32.const 2048) (i32.const 14))
    (i32.const 3)))
