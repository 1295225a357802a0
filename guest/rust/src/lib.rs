//! A kit for guests in Rust: WebAssembly modules that decide in kube-scheduler. [`hooks!`] exports the hooks that it names, and no others:
//!
//! ```
//! use guest::{Code, Field, Status};
//!
//! guest::hooks! {
//!     filter: |pod, node| match pod.label("disk") == node.label("disk") {
//!         true => Status::SUCCESS,
//!         false => Status::new(Code::UnschedulableAndUnresolvable, "node(s) had no such disk"),
//!     },
//!     decides_by: [Field::PodLabel("disk"), Field::NodeLabel("disk")],
//! }
//! ```
//!
//! One hook runs at a time, and nothing runs in between. A panic gives the pod of the call an Error with its message.
//!
//! What the host sends goes to the heap, since a pod may have 100 bytes or 500,000, and is freed with its view. The crate needs `core` and
//! `alloc`, and links std for panics, unless it is built with the feature `no_std`. The guest then brings an allocator and a panic handler,
//! and needs Rust 1.68, before which no `alloc` is linked without std.
#![no_std]
#![deny(unsafe_code)]
#![allow(clippy::ok_expect)] // the Debug of an error takes eight kilobytes

extern crate alloc;
#[allow(unsafe_code)]
mod host;
mod object;
#[allow(clippy::unused_unit, non_camel_case_types)]
#[doc(hidden)]
pub mod run;

use alloc::{borrow::Cow, string::String};
pub use host::{allow, log, reject, send_event};
pub use object::{Node, Object, Pod, Target};

/// The code with that name in k8s.io/kube-scheduler/framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Success = 0,
    Error = 1,
    Unschedulable = 2,
    UnschedulableAndUnresolvable = 3,
    /// `permit` only.
    Wait = 4,
    /// `prefilter`, `prescore` and `bind` only.
    Skip = 5,
    Pending = 6,
}

/// The result of a hook. The reason is for a person; Success and Skip need none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub code: Code,
    pub reason: Cow<'static, str>,
}

impl Status {
    pub const SUCCESS: Status = Status { code: Code::Success, reason: Cow::Borrowed("") };
    pub const SKIP: Status = Status { code: Code::Skip, reason: Cow::Borrowed("") };

    /// A status with a reason: a literal, or what `format!` makes.
    pub fn new(code: Code, reason: impl Into<Cow<'static, str>>) -> Status {
        Status { code, reason: reason.into() }
    }
}

/// A field that a guest may declare in `decides_by`, with the key of a label or an annotation, or the name of a resource.
pub enum Field<'a> {
    PodNamespace,
    PodName,
    PodLabel(&'a str),
    PodAnnotation(&'a str),
    PodRequests(&'a str),
    NodeName,
    NodeLabel(&'a str),
    NodeAnnotation(&'a str),
    NodeAllocatable(&'a str),
    NodeRequested(&'a str),
    NodePods,
}

/// The guestConfig of the plugin's args, empty if there is none.
pub fn config() -> String {
    host::utf8(&host::config()).into()
}

/// A severity of klog.
pub enum Severity {
    Info = 0,
    Warning = 1,
    Error = 2,
}

/// Limits the cycle to these nodes, in `prefilter`. Without names there is no limit.
pub fn only_nodes<N: AsRef<str>>(names: impl IntoIterator<Item = N>) {
    host::node_names(names.into_iter().map(|name| [name.as_ref(), "\0"].concat()).collect::<String>());
}
