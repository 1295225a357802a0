;; A guest that never ends where its guestConfig says: s in _start, e in enqueue,
;; d in decides_by.
(module $endless_start
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (func $unless (param $letter i32)
    (drop (call $get_config (i32.const 0) (i32.const 16)))
    (loop $again
      (br_if $again (i32.eq (i32.load8_u (i32.const 0)) (local.get $letter)))))
  (func (export "_start") (call $unless (i32.const 0x73)))
  (func (export "enqueue") (call $unless (i32.const 0x65)))
  (func (export "decides_by") (result i64) (call $unless (i32.const 0x64)) (i64.const 0))
  (func (export "filter") (result i32) (i32.const 0)))
