;; A module that exports addpod, which is no hook that makes a guest.
(module $only_addpod
  (memory (export "memory") 1 1)
  (func (export "addpod") (result i32) (i32.const 0)))
