;; A guest that gives the node "n" followed by a digit that digit as its score,
;; and hands the scores back as it gets them.
(module $normalizescore
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "nodeScoreList"
    (func $node_score_list (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.normalized_score_list"
    (func $normalized_score_list (param i32 i32)))
  (memory (export "memory") 2 2)
  (func (export "score") (result i64)
    (drop (call $current_node_name (i32.const 0) (i32.const 253)))
    ;; The upper half is the score.
    (i64.shl
      (i64.extend_i32_u (i32.sub (i32.load8_u (i32.const 1)) (i32.const 0x30)))
      (i64.const 32)))
  (func (export "normalizescore") (result i32)
    (call $normalized_score_list (i32.const 0)
      (call $node_score_list (i32.const 0) (i32.const 65536)))
    (i32.const 0)))
