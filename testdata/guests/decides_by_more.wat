;; A guest that says that it decides by something that there is not.
(module $decides_by_more
  (memory (export "memory") 1 1)
  (data (i32.const 1024) "node.metadata.name\00pod.metadata.anotations['a']\00")
  (func (export "decides_by") (result i64) ;; address and size of the list
    (i64.const 0x0000040000000030))
  (func (export "filter") (result i32) (i32.const 0)))
