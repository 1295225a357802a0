;; The floor of a rejection: it fetches the node's name and rejects every node,
;; with the reason that the policy gives for the pattern ^kubecon-.
(module $reject
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason"
    (func $status_reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 512) "node(s) didn't match the pod's node name regex \"^kubecon-\"")
  (func (export "prefilter") (result i32) (i32.const 0))
  (func (export "filter") (result i32)
    (drop (call $current_node_name (i32.const 0) (i32.const 253)))
    (call $status_reason (i32.const 512) (i32.const 58))
    (i32.const 3)))
