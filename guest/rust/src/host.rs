//! The functions of the host, and all unsafe code of the crate. On the machine where tests run there is no host, and a call panics.

#[cfg(all(target_arch = "wasm32", not(feature = "no_std")))]
extern crate std;
use alloc::vec::Vec;
use core::cell::UnsafeCell;

/// Declares a function of the host. Parameters are addresses, sizes in bytes, and numbers.
macro_rules! import {
    ($module:literal $link:literal ($($parameter:ident),*) $(-> $result:ty)?) => {
        #[cfg(target_arch = "wasm32")]
        #[link(wasm_import_module = $module)]
        extern "C" {
            #[link_name = $link]
            fn call($($parameter: usize),*) $(-> $result)?;
        }
        #[cfg(not(target_arch = "wasm32"))]
        unsafe fn call($($parameter: usize),*) $(-> $result)? { panic!("there is no host: {} {:?}", $link, [$($parameter),*]) }
    };
}

// SAFETY, of all calls: an address comes with the size of what is borrowed there, or with the limit of what may be written. The host heeds
// both, and keeps no address.

/// Functions that take bytes.
macro_rules! takes {
    ($($(#[$doc:meta])* $name:ident $link:literal)*) => {$(
        $(#[$doc])*
        pub fn $name(bytes: impl AsRef<[u8]>) {
            import!("k8s.io/scheduler" $link (at, size));
            unsafe { call(bytes.as_ref().as_ptr() as usize, bytes.as_ref().len()) }
        }
    )*};
}
takes! {
    status_reason "result.status_reason"        cluster_events "result.cluster_events"
    node_names "result.node_names"              nominated_node_name "result.nominated_node_name"
    normalized_score_list "result.normalized_score_list"
    /// Sends an event, a JSON object with RegardingReference, RelatedReference, Eventtype, Reason, Action and Note.
    send_event "handle.eventrecorder.eventf"
}

/// Functions that write bytes.
macro_rules! writes {
    ($($name:ident $link:literal)*) => {$(
        pub fn $name() -> Vec<u8> {
            import!("k8s.io/scheduler" $link (buf, limit) -> usize);
            filled(|buf, limit| unsafe { call(buf, limit) })
        }
    )*};
}
writes! {
    config "get_config"                         current_node_name "currentNodeName"
    current_pod "currentPod"                    target_pod "targetPod"
    filtered_node_list "filteredNodeList"       node_to_status_map "nodeToStatusMap"
    node_score_list "nodeScoreList"
}

pub fn node(name: &str) -> Vec<u8> {
    import!("k8s.io/api" "node" (name, size, buf, limit) -> usize);
    filled(|buf, limit| unsafe { call(name.as_ptr() as usize, name.len(), buf, limit) })
}

/// Writes a line to the scheduler's log, if the plugin's logSeverity permits it.
pub fn log(severity: crate::Severity, message: &str) {
    import!("k8s.io/klog" "log" (severity, at, size));
    unsafe { call(severity as usize, message.as_ptr() as usize, message.len()) }
}

/// Functions that take a pod's UID, and write 1 or 0 in eight bytes.
macro_rules! ends {
    ($($(#[$doc:meta])* $name:ident $link:literal)*) => {$(
        $(#[$doc])*
        pub fn $name(uid: &str) -> bool {
            import!("k8s.io/scheduler" $link (uid, size, buf, limit));
            let mut ended = [0u8; 8];
            unsafe { call(uid.as_ptr() as usize, uid.len(), ended.as_mut_ptr() as usize, 8) };
            ended[0] == 1
        }
    )*};
}
ends! {
    /// Ends the wait of a pod for this guest's `permit`. False if no such pod is waiting. The upstream host has [`reject`] only.
    allow "handle.allow_waiting_pod"
    /// Ends the wait of a pod, which the scheduler tries again later. False if no such pod is waiting.
    reject "handle.reject_waiting_pod"
}

/// What the host writes, at an address and up to a limit. It says how many bytes there are: if these are more, it has written none, and is
/// asked again with room for all. Most pods have some kilobytes.
fn filled(write: impl Fn(usize, usize) -> usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::with_capacity(16 << 10);
    loop {
        let size = write(bytes.as_mut_ptr() as usize, bytes.capacity());
        if size <= bytes.capacity() {
            // SAFETY: there is room for so many, and the host has written them.
            unsafe { bytes.set_len(size) };
            return bytes;
        }
        bytes.reserve_exact(size);
    }
}

/// Has the message of a panic written to standard error, which the host quotes. Std itself drops it on this target.
pub fn report_panics() {
    #[cfg(all(target_arch = "wasm32", not(feature = "no_std")))]
    std::panic::set_hook(alloc::boxed::Box::new(|info| {
        import!("wasi_snapshot_preview1" "fd_write" (file, texts, count, written) -> usize);
        let message = alloc::string::ToString::to_string(info);
        let (text, mut written) = ([message.as_ptr() as usize, message.len()], [0usize]);
        unsafe { call(2, text.as_ptr() as usize, 1, written.as_mut_ptr() as usize) };
        core::arch::wasm32::unreachable() // or all that std does then is linked, ten kilobytes
    }));
}

pub fn utf8(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).ok().expect("the host sent no UTF-8")
}

/// A value that is made when it is first needed: core's OnceCell, which Rust before 1.70 lacks.
pub struct Once<T>(UnsafeCell<Option<T>>);

impl<T> Once<T> {
    pub fn new(value: Option<T>) -> Once<T> {
        Once(UnsafeCell::new(value))
    }

    pub fn get(&self, make: impl FnOnce() -> T) -> &T {
        // SAFETY: the value is written once, while there is no reference to it: what makes it does not know this Once, which has one thread.
        unsafe {
            if (*self.0.get()).is_none() {
                let value = make();
                *self.0.get() = Some(value);
            }
            (*self.0.get()).as_ref().unwrap_unchecked()
        }
    }
}
