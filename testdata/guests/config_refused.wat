;; A guest that refuses its guestConfig the way that Go programs do: it writes
;; its complaint to standard error, over two lines, and exits with 1.
(module $config_refused
  (import "wasi_snapshot_preview1" "fd_write"
    (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 0) "\10\00\00\00\2f\00\00\00") ;; iovec: 47 bytes at 16
  (data (i32.const 16) "guestConfig: unknown field \"colour\"\nsee README\n")
  (func $main (export "_start")
    (drop (call $fd_write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8)))
    (call $proc_exit (i32.const 1)))
  (func (export "filter") (result i32) (i32.const 0)))
