;; The example of docs/guests.md: no pod may run on a node whose name begins with
;; "gpu-".
(module $not_gpu
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason"
    (func $status_reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 256) "node(s) were for GPUs only")
  (data (i32.const 512) "node.metadata.name\00")
  (func (export "decides_by") (result i64) (i64.const 0x20000000013)) ;; at 512, 19 bytes
  (func (export "filter") (result i32)
    ;; The name is written from 0 on, 253 bytes at most. It must have as many as
    ;; "gpu-", or what is compared is left of a longer one.
    (if (i32.lt_u (call $current_node_name (i32.const 0) (i32.const 253)) (i32.const 4))
      (then (return (i32.const 0)))) ;; Success
    (if (i32.ne (i32.load (i32.const 0)) (i32.const 0x2d757067)) ;; "gpu-", from right to left
      (then (return (i32.const 0))))
    (call $status_reason (i32.const 256) (i32.const 26))
    (i32.const 3))) ;; UnschedulableAndUnresolvable
