;; A guest that traps on the node other-0, exits on kubecon-2, and has it in its memory: a later call in that instance traps too.
(module $breaks
  (import "k8s.io/scheduler" "currentNodeName" (func $node_name (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1 1)
  (global $broken (mut i32) (i32.const 0))
  (func (export "filter") (result i32)
    (local $last i32)
    (if (global.get $broken) (then (unreachable)))
    (local.set $last (i32.load8_u offset=255 (call $node_name (i32.const 256) (i32.const 253))))
    (global.set $broken (i32.ne (local.get $last) (i32.const 0x31))) ;; not kubecon-1
    (if (i32.eq (local.get $last) (i32.const 0x30)) (then (unreachable)))
    (if (global.get $broken) (then (call $proc_exit (i32.const 0))))
    (i32.const 0)))
