//! A guest in Rust, without a crate: a pod with the annotation example.com/prefix runs only on
//! nodes whose name begins with its value.
#![no_std]

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}

// What fits into limit bytes is written to buf. What is returned is the size.
#[link(wasm_import_module = "k8s.io/scheduler")]
extern "C" {
    #[link_name = "currentPod"]
    fn current_pod(buf: *mut u8, limit: usize) -> usize;
    #[link_name = "currentNodeName"]
    fn current_node_name(buf: *mut u8, limit: usize) -> usize;
    #[link_name = "result.status_reason"]
    fn set_status_reason(reason: *const u8, size: usize);
}

const SUCCESS: u32 = 0;
const UNSCHEDULABLE_AND_UNRESOLVABLE: u32 = 3;

const KEY: &[u8] = b"example.com/prefix";
const REASON: &str = "node(s) had a name with another prefix";
const FIELDS: &str = "pod.metadata.annotations['example.com/prefix']\0node.metadata.name\0";

#[no_mangle]
pub extern "C" fn filter() -> u32 {
    // A guest is single-threaded: nothing else uses the buffers.
    static mut POD: [u8; 300 << 10] = [0; 300 << 10]; // all annotations together are 256 KiB at most
    static mut NAME: [u8; 253] = [0; 253]; // a node's name has no more
    unsafe {
        let size = current_pod(POD.as_mut_ptr(), POD.len());
        let prefix = match annotation(&POD[..size], KEY) {
            Some(prefix) => prefix,
            None => return SUCCESS,
        };
        let size = current_node_name(NAME.as_mut_ptr(), NAME.len());
        if NAME[..size].starts_with(prefix) {
            return SUCCESS;
        }
        set_status_reason(REASON.as_ptr(), REASON.len());
    }
    UNSCHEDULABLE_AND_UNRESOLVABLE
}

/// All that the answer depends on: the host asks once for each pair of values, and the pod has
/// no other field.
#[no_mangle]
pub extern "C" fn decides_by() -> u64 {
    (FIELDS.as_ptr() as u64) << 32 | FIELDS.len() as u64
}

/// The value of an annotation: field 12 of the metadata, field 1 of an object, has key and value.
fn annotation<'a>(object: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let metadata = fields(object, 1).next()?;
    let entry = fields(metadata, 12).find(|entry| fields(entry, 1).next() == Some(key))?;
    Some(fields(entry, 2).next().unwrap_or(b""))
}

/// The messages and strings in a message of protobuf that have a number.
fn fields(mut message: &[u8], wanted: u64) -> impl Iterator<Item = &[u8]> {
    core::iter::from_fn(move || loop {
        let tag = varint(&mut message)?;
        let value = varint(&mut message)?; // or the size
        if tag & 7 == 2 {
            let found = message.get(..value as usize)?;
            message = &message[found.len()..];
            if tag >> 3 == wanted {
                return Some(found);
            }
        }
    })
}

/// Takes a number from the start of a message: seven bits in each byte, the lowest first.
fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first()?;
        *message = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}
