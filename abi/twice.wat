;; A guest that gives each result twice, in every hook, whatever it is for. Where guestConfig has a text, postfilter and
;; normalizescore give none.
(module $twice
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $reason (param i32 i32)))
  (import "k8s.io/scheduler" "result.cluster_events" (func $events (param i32 i32)))
  (import "k8s.io/scheduler" "result.node_names" (func $names (param i32 i32)))
  (import "k8s.io/scheduler" "result.nominated_node_name" (func $nominated (param i32 i32)))
  (import "k8s.io/scheduler" "result.normalized_score_list" (func $scores (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 0) "kubecon-1\00kubecon-2\00")
  (data (i32.const 32) "firstlast")
  (data (i32.const 64) "\00\00\00\00\01\00\00\00\01\00\00\00\02\00\00\00") ;; a pod is added, a node is deleted
  (data (i32.const 96) "{\"kubecon-1\":1,\"kubecon-2\":2}{\"kubecon-1\":3,\"kubecon-2\":4}")
  (func $all
    (call $reason (i32.const 32) (i32.const 5))
    (call $reason (i32.const 37) (i32.const 4))
    (call $events (i32.const 64) (i32.const 8))
    (call $events (i32.const 72) (i32.const 8))
    (call $names (i32.const 0) (i32.const 10))
    (call $names (i32.const 10) (i32.const 10))
    (call $nominated (i32.const 0) (i32.const 9))
    (call $nominated (i32.const 10) (i32.const 9))
    (call $scores (i32.const 96) (i32.const 29))
    (call $scores (i32.const 125) (i32.const 29)))
  (func $unless_config
    (if (i32.eqz (call $get_config (i32.const 0) (i32.const 0))) (then (call $all))))
  (func (export "enqueue") (call $all))
  (func (export "prefilter") (result i32) (call $all) (i32.const 0))
  (func (export "filter") (result i32) (call $all) (i32.const 2))
  (func (export "postfilter") (result i64) (call $unless_config) (i64.const 0x100000000))
  (func (export "score") (result i64) (call $all) (i64.const 0))
  (func (export "normalizescore") (result i32) (call $unless_config) (i32.const 0)))
