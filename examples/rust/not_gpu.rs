//! A guest in Rust, without a crate: no pod may run on a node whose name begins with
//! "gpu-".
#![no_std]

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}

// What fits into limit bytes is written to buf. What is returned is the size.
#[link(wasm_import_module = "k8s.io/scheduler")]
extern "C" {
    #[link_name = "currentNodeName"]
    fn current_node_name(buf: *mut u8, limit: usize) -> usize;
    #[link_name = "result.status_reason"]
    fn set_status_reason(reason: *const u8, size: usize);
}

const SUCCESS: u32 = 0;
const UNSCHEDULABLE_AND_UNRESOLVABLE: u32 = 3;

const REASON: &str = "node(s) were for GPUs only";
const FIELDS: &str = "node.metadata.name\0";

#[no_mangle]
pub extern "C" fn filter() -> u32 {
    // A guest is single-threaded: nothing else uses the buffer.
    static mut NAME: [u8; 253] = [0; 253]; // a node's name has no more
    unsafe {
        let size = current_node_name(NAME.as_mut_ptr(), NAME.len());
        if !NAME[..size.min(NAME.len())].starts_with(b"gpu-") {
            return SUCCESS;
        }
        set_status_reason(REASON.as_ptr(), REASON.len());
    }
    UNSCHEDULABLE_AND_UNRESOLVABLE
}

/// All that the answer depends on: the host asks once for each name.
#[no_mangle]
pub extern "C" fn decides_by() -> u64 {
    (FIELDS.as_ptr() as u64) << 32 | FIELDS.len() as u64
}
