;; A guest with a share in the binding cycle: it lets every pod pass.
(module $permit
  (memory (export "memory") 1 1)
  (func (export "permit") (result i64) (i64.const 0)))
