;; A guest whose Filter makes its memory grow by 63 pages, and answers 1 where it cannot.
(module $greedy
  (memory (export "memory") 1 1024)
  (func $filter (export "filter") (result i32)
    (i32.eq (memory.grow (i32.const 63)) (i32.const -1))))
