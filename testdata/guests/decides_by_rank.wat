;; A guest that declares to decide by the name of the node, and prefers "n1" to "n2" and so
;; on: Score is the digit, or 0 where PreScore was not called, and NormalizeScore turns the
;; digits around. It asks which nodes passed, so PreScore is not remembered.
(module $decides_by_rank
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "filteredNodeList" (func $filtered (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "nodeScoreList"
    (func $node_score_list (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.normalized_score_list"
    (func $normalized_score_list (param i32 i32)))
  (memory (export "memory") 2 2)
  (data (i32.const 1024) "node.metadata.name\00")
  (global $passed (mut i32) (i32.const 0))
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 1024) (i64.const 32)) (i64.const 19)))
  (func (export "prefilter") (result i32) (global.set $passed (i32.const 0)) (i32.const 0))
  (func (export "prescore") (result i32)
    (global.set $passed (call $filtered (i32.const 2048) (i32.const 4096)))
    (i32.const 0))
  (func (export "score") (result i64)
    (drop (call $current_node_name (i32.const 0) (i32.const 253)))
    (i64.shl
      (i64.extend_i32_u (select (i32.sub (i32.load8_u (i32.const 1)) (i32.const 0x30)) (i32.const 0) (global.get $passed)))
      (i64.const 32)))
  (func (export "normalizescore") (result i32)
    (local $at i32) (local $size i32)
    (local.set $size (call $node_score_list (i32.const 8192) (i32.const 65536)))
    (loop $next ;; each score is one digit, after a colon
      (if (i32.eq (i32.load8_u offset=8192 (local.get $at)) (i32.const 0x3a))
        (then (i32.store8 offset=8193 (local.get $at)
          (i32.sub (i32.const 0x69) (i32.load8_u offset=8193 (local.get $at))))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $size))))
    (call $normalized_score_list (i32.const 8192) (local.get $size))
    (i32.const 0)))
