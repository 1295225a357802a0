;; A guest that is built as a program: it ends when _start does.
(module $start_exit
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1 1)
  (func (export "_start") (call $proc_exit (i32.const 0)))
  (func (export "filter") (result i32) (i32.const 0)))
