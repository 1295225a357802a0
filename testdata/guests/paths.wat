;; A guest whose Filter answers with what WASI says of opening a file whose path has 12 MB.
(module $paths
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (memory (export "memory") 200 200)
  (func $filter (export "filter") (result i32)
    (call $path_open (i32.const 3) (i32.const 0) (i32.const 64) (i32.const 12000000) (i32.const 0)
      (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 0))))
