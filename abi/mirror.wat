;; A guest that has every hook and imports every function of the host. Which one it
;; calls, in each hook, its guestConfig says: the first byte is a letter from the
;; table below, the rest the function's argument. What the host writes becomes the
;; reason of a rejection, in hexadecimal. Upper case asks with room for three bytes only, where
;; "---" stands already.
(module $mirror
  (import "k8s.io/api" "node" (func $node (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/api" "nodeList" (func $nodeList (param i32 i32) (result i32)))
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (import "k8s.io/klog" "logs" (func $logs (param i32 i32 i32 i32 i32)))
  (import "k8s.io/klog" "severity" (func $severity (result i32)))
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentPod" (func $currentPod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "targetPod" (func $targetPod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName" (func $currentNodeName (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "filteredNodeList" (func $filteredNodeList (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "nodeToStatusMap" (func $nodeToStatusMap (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "nodeScoreList" (func $nodeScoreList (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "nodeImageStates" (func $nodeImageStates (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.cluster_events" (func $cluster_events (param i32 i32)))
  (import "k8s.io/scheduler" "result.node_names" (func $node_names (param i32 i32)))
  (import "k8s.io/scheduler" "result.nominated_node_name" (func $nominated (param i32 i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $reason (param i32 i32)))
  (import "k8s.io/scheduler" "result.normalized_score_list" (func $normalized (param i32 i32)))
  (import "k8s.io/scheduler" "handle.eventrecorder.eventf" (func $eventf (param i32 i32)))
  (import "k8s.io/scheduler" "handle.reject_waiting_pod" (func $reject (param i32 i32 i32 i32)))
  (import "k8s.io/scheduler" "handle.get_waiting_pod" (func $get (param i32 i32 i32 i32)))
  (memory (export "memory") 4 4)
  (global $letter (mut i32) (i32.const 0))
  (global $size (mut i32) (i32.const 0))  ;; of the argument, which stands at 1
  (global $limit (mut i32) (i32.const 0)) ;; of the answer, which stands at 65536
  (data (i32.const 60000) "0123456789abcdef")

  ;; hex writes bytes in hexadecimal: a reason is a text, which a host may mend.
  (func $hex (param $from i32) (param $size i32) (param $to i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $from) (local.get $size)))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $from) (local.get $end)))
        (i32.store8 (local.get $to)
          (i32.load8_u offset=60000 (i32.shr_u (i32.load8_u (local.get $from)) (i32.const 4))))
        (i32.store8 offset=1 (local.get $to)
          (i32.load8_u offset=60000 (i32.and (i32.load8_u (local.get $from)) (i32.const 15))))
        (local.set $from (i32.add (local.get $from) (i32.const 1)))
        (local.set $to (i32.add (local.get $to) (i32.const 2)))
        (br $next))))

  ;; read_config sets the globals, and the letter is lower case then.
  (func $read_config
    (global.set $size (i32.sub (call $get_config (i32.const 0) (i32.const 50000)) (i32.const 1)))
    (global.set $letter (i32.load8_u (i32.const 0)))
    (global.set $limit (i32.const 65536))
    (if (i32.lt_u (global.get $letter) (i32.const 0x61))
      (then
        (global.set $letter (i32.add (global.get $letter) (i32.const 0x20)))
        (global.set $limit (i32.const 3))))
    (i32.store (i32.const 65536) (i32.const 0x2d2d2d))) ;; ---

  ;; ask returns how much the host has written.
  (func $ask (result i32)
    (local $written i32)
    (call $read_config)
    (local.set $written
      (block $answered (result i32)
        (block $w (block $v (block $u (block $t (block $s (block $r (block $q (block $p (block $o (block $n
        (block $m (block $l (block $k (block $j (block $i (block $h (block $g (block $f
        (block $e (block $d (block $c (block $b (block $a
          (br_table $a $b $c $d $e $f $g $h $i $j $k $l $m $n $o $p $q $r $s $t $u $v $w
            (i32.sub (global.get $letter) (i32.const 0x61))))
        (br $answered (call $currentPod (i32.const 65536) (global.get $limit))))          ;; a
        (br $answered (call $targetPod (i32.const 65536) (global.get $limit))))           ;; b
        (br $answered (call $currentNodeName (i32.const 65536) (global.get $limit))))     ;; c
        (br $answered (call $filteredNodeList (i32.const 65536) (global.get $limit))))    ;; d
        (br $answered (call $nodeToStatusMap (i32.const 65536) (global.get $limit))))     ;; e
        (br $answered (call $nodeScoreList (i32.const 65536) (global.get $limit))))       ;; f
        (br $answered (call $get_config (i32.const 65536) (global.get $limit))))          ;; g
        (i32.store8 (i32.const 65536) (i32.add (call $severity) (i32.const 0x30)))        ;; h
        (br $answered (i32.const 1)))
        (br $answered (call $node (i32.const 1) (global.get $size) (i32.const 65536) (global.get $limit)))) ;; i
        (br $answered (call $nodeList (i32.const 65536) (global.get $limit))))            ;; j
        (br $answered (call $nodeImageStates (i32.const 1) (global.get $size) (i32.const 65536) (global.get $limit)))) ;; k
        (call $reject (i32.const 1) (global.get $size) (i32.const 65536) (global.get $limit)) ;; l
        (br $answered (i32.const 8)))
        (call $get (i32.const 1) (global.get $size) (i32.const 65536) (global.get $limit)) ;; m
        (br $answered (i32.const 12)))
        (call $eventf (i32.const 1) (global.get $size))                                   ;; n
        (br $answered (i32.const 0)))
        (call $log (i32.sub (i32.load8_u (i32.const 1)) (i32.const 0x30))                 ;; o: severity and text
          (i32.const 2) (i32.sub (global.get $size) (i32.const 1)))
        (br $answered (i32.const 0)))
        (call $logs (i32.sub (i32.load8_u (i32.const 1)) (i32.const 0x30))                ;; p: severity, key and value
          (i32.const 60000) (i32.const 4) (i32.const 2) (i32.sub (global.get $size) (i32.const 1)))
        (br $answered (i32.const 0)))
        (call $node_names (i32.const 1) (global.get $size))                               ;; q
        (br $answered (i32.const 0)))
        (call $nominated (i32.const 1) (global.get $size))                                ;; r
        (br $answered (i32.const 0)))
        (call $normalized (i32.const 1) (global.get $size))                               ;; s
        (br $answered (i32.const 0)))
        (call $reason (i32.const 0x7fffffff) (i32.const 1))                               ;; t: out of the memory
        (br $answered (i32.const -1)))
        (br $answered (call $node (i32.const 0x7fffffff) (i32.const 1) (i32.const 65536) (global.get $limit)))) ;; u: so too
        (br $answered (call $currentPod (i32.const 0x7fffffff) (i32.const 65536))))       ;; v: and so
        (i32.const 0)))                                                                   ;; w: nothing
    (if (i32.or (i32.ne (global.get $limit) (i32.const 3)) (i32.le_u (local.get $written) (i32.const 3)))
      (then (return (local.get $written))))
    (if (i32.ne (i32.load (i32.const 65536)) (i32.const 0x2d2d2d)) (then (unreachable))) ;; it was written all the same
    (i32.store (i32.const 65536) (local.get $written))
    (i32.const 4))

  ;; answer is the code: Unschedulable with what was asked for, or Success where
  ;; the host wrote nothing.
  (func $answer (result i32)
    (local $written i32)
    (local.set $written (call $ask))
    (if (i32.eqz (local.get $written)) (then (return (i32.const 0))))
    (if (i32.gt_s (local.get $written) (i32.const 0))
      (then
        (call $hex (i32.const 65536) (local.get $written) (i32.const 131072))
        (call $reason (i32.const 131072) (i32.shl (local.get $written) (i32.const 1)))))
    (i32.const 2))

  (func (export "enqueue")
    (call $read_config)
    (if (i32.eq (global.get $letter) (i32.const 0x7a)) ;; z
      (then (call $cluster_events (i32.const 1) (global.get $size)))))
  (func (export "prefilter") (result i32) (call $answer))
  (func (export "addpod") (result i32) (call $answer))
  (func (export "removepod") (result i32) (call $answer))
  (func (export "filter") (result i32) (call $answer))
  (func (export "postfilter") (result i64)
    (i64.or (i64.extend_i32_u (call $answer)) (i64.const 0x100000000))) ;; ModeOverride
  (func (export "prescore") (result i32) (call $answer))
  (func (export "score") (result i64)
    (i64.or (i64.extend_i32_u (call $answer)) (i64.const 0x700000000))) ;; 7
  (func (export "normalizescore") (result i32) (call $answer))
  (func (export "reserve") (result i32) (call $answer))
  (func (export "unreserve") (drop (call $answer)))
  (func (export "permit") (result i64)
    (i64.or (i64.shl (i64.extend_i32_u (call $answer)) (i64.const 32)) (i64.const 1500))) ;; ms
  (func (export "prebind") (result i32) (call $answer))
  (func (export "bind") (result i32) (call $answer))
  (func (export "postbind") (drop (call $answer))))
