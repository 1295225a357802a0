;; A guest that declares to decide by an annotation of the pod alone. PreFilter names the
;; node n1, which need not be there. It waits for new nodes, and for other labels of nodes.
(module $decides_by_pod
  (import "k8s.io/scheduler" "result.node_names" (func $node_names (param i32 i32)))
  (import "k8s.io/scheduler" "result.cluster_events" (func $cluster_events (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 1024) "pod.metadata.annotations['a']\00")
  (data (i32.const 2048) "n1\00")
  (data (i32.const 3072) "\01\00\00\00\09\00\00\00")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 1024) (i64.const 32)) (i64.const 30)))
  (func (export "enqueue")
    (call $cluster_events (i32.const 3072) (i32.const 8)))
  (func (export "prefilter") (result i32)
    (call $node_names (i32.const 2048) (i32.const 3))
    (i32.const 0))
  (func (export "filter") (result i32) (i32.const 0)))
