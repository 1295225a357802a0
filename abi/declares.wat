;; A guest that declares the fields in its guestConfig, after a letter for what filter does (see $ask). It rejects every node.
(module $declares
  (import "k8s.io/api" "node" (func $node (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/api" "nodeList" (func $node_list (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName" (func $node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "nodeImageStates" (func $images (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $reason (param i32 i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 4 4)
  ;; 0: the config; 16384: the node's name; 65536: an object; 131072: the same in hexadecimal.
  (data (i32.const 20480) "0123456789abcdef")
  (data (i32.const 20500) "none")
  (data (i32.const 20510) "kubecon-2")
  (data (i32.const 20520) "as before")
  (data (i32.const 20530) "otherwise")
  (global $name (mut i32) (i32.const 0)) ;; its size
  (global $asked (mut i32) (i32.const 0))

  (func (export "decides_by") (result i64)
    (i64.or (i64.const 0x100000000)
      (i64.sub (i64.extend_i32_u (call $get_config (i32.const 0) (i32.const 16384))) (i64.const 1))))

  (func $is (param $letter i32) (result i32) (i32.eq (i32.load8_u (i32.const 0)) (local.get $letter)))

  (func $ask
    (if (call $is (i32.const 0x70)) ;; p: the pod
      (then (call $hex (call $current_pod (i32.const 65536) (i32.const 32768)))))
    (if (call $is (i32.const 0x6e)) ;; n: the node
      (then (call $hex (call $get_node))))
    (if (call $is (i32.const 0x4e)) ;; N: its name
      (then (call $reason (i32.const 16384) (global.get $name))))
    (if (call $is (i32.const 0x61)) ;; a: the amount at the end of the node
      (then (call $amount (call $get_node))))
    (if (call $is (i32.const 0x72)) ;; r: the amount at the end of the pod
      (then (call $amount (call $current_pod (i32.const 65536) (i32.const 32768)))))
    (if (call $is (i32.const 0x6c)) ;; l: all nodes
      (then (drop (call $node_list (i32.const 65536) (i32.const 32768)))))
    (if (call $is (i32.const 0x6f)) ;; o: another node
      (then (drop (call $node (i32.const 20510) (i32.const 9) (i32.const 65536) (i32.const 32768)))))
    (if (call $is (i32.const 0x69)) ;; i: images on the node
      (then (drop (call $images (i32.const 16384) (global.get $name) (i32.const 65536) (i32.const 32768)))))
    (if (call $is (i32.const 0x63)) ;; c: whether the clocks and the random numbers are as they were
      (then (call $look))))

  (func $get_node (result i32)
    (call $node (i32.const 16384) (global.get $name) (i32.const 65536) (i32.const 32768)))

  ;; amount tells the last byte of the object, if that has the field 1000.
  (func $amount (param $size i32)
    (local $at i32)
    (local.set $at (i32.const 65536))
    (loop $next
      (if (i32.eq (i32.load16_u (local.get $at)) (i32.const 0x3ec2))
        (then
          (i32.store8 (i32.const 20600) (i32.add (i32.const 0x30) (i32.load8_u (i32.add (i32.const 65535) (local.get $size)))))
          (call $reason (i32.const 20600) (i32.const 1))
          (return)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (i32.add (i32.const 65536) (local.get $size)))))
    (call $reason (i32.const 20500) (i32.const 4)))

  (func $look
    (local $same i32)
    (drop (call $clock (i32.const 0) (i64.const 1) (i32.const 20608)))
    (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 20616)))
    (drop (call $random (i32.const 20624) (i32.const 8)))
    (drop (call $clock (i32.const 0) (i64.const 1) (i32.const 20632)))
    (local.set $same (i64.eq (i64.load (i32.const 20608)) (i64.load (i32.const 20632))))
    (if (global.get $asked)
      (then
        (local.set $same (i32.and (local.get $same)
          (i32.and (i64.eq (i64.load (i32.const 20608)) (i64.load (i32.const 20708)))
            (i32.and (i64.eq (i64.load (i32.const 20616)) (i64.load (i32.const 20716)))
              (i64.eq (i64.load (i32.const 20624)) (i64.load (i32.const 20724)))))))))
    (memory.copy (i32.const 20708) (i32.const 20608) (i32.const 24))
    (global.set $asked (i32.const 1))
    (call $reason (select (i32.const 20520) (i32.const 20530) (local.get $same)) (i32.const 9)))

  (func $hex (param $size i32)
    (local $at i32)
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $size))
        (then
          (i32.store8 offset=131072 (i32.shl (local.get $at) (i32.const 1))
            (i32.load8_u offset=20480 (i32.shr_u (i32.load8_u offset=65536 (local.get $at)) (i32.const 4))))
          (i32.store8 offset=131073 (i32.shl (local.get $at) (i32.const 1))
            (i32.load8_u offset=20480 (i32.and (i32.load8_u offset=65536 (local.get $at)) (i32.const 15))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
    (call $reason (i32.const 131072) (i32.shl (local.get $size) (i32.const 1))))

  (func (export "filter") (result i32)
    (drop (call $get_config (i32.const 0) (i32.const 16384)))
    (global.set $name (call $node_name (i32.const 16384) (i32.const 253)))
    (call $ask)
    (i32.const 2)))
