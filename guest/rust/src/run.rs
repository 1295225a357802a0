//! What the exports do: each calls a hook, and returns what the host expects.

pub use crate::host::report_panics;
use crate::host::{self, utf8};
use crate::{Code, Field, Node, Pod, Status, Target};
use alloc::{format, string::String, vec::Vec};
use core::{convert::identity, time::Duration};

/// Exports hooks, each by its name, with a function or a closure:
///
/// - `prefilter`: `|pod| -> Status`, which may call [`only_nodes`](crate::only_nodes)
/// - `addpod`, `removepod`: `|pod, node, target| -> Status`
/// - `filter`, `reserve`, `prebind`, `bind`: `|pod, node| -> Status`
/// - `postfilter`: `|pod, codes: &[(&str, Code)]| -> Result<String, Status>`, with the name of the nominated node
/// - `prescore`: `|pod, nodes: &[&str]| -> Status`
/// - `score`: `|pod, node| -> Result<i32, Status>`, from 0 to 100 unless the scores are normalized
/// - `normalizescore`: `|pod, scores: &mut [(&str, i64)]| -> Status`, which changes the scores to numbers from 0 to 100
/// - `permit`: `|pod, node| -> (Status, Duration)`, with Wait the longest wait
/// - `unreserve`, `postbind`: `|pod, node|`
/// - `enqueue`: the events that may make a rejected pod schedulable, as pairs of numbers: wasmhost/events.go has them
/// - `decides_by`: all [fields](Field) on which answers depend. The guest sees no others, and answers are remembered
/// - `sees_resources`: `()`, for a guest that declares no amounts, and needs them
#[macro_export]
macro_rules! hooks {
    ($($hook:ident: $value:expr),+ $(,)?) => {$(
        const _: () = {
            // Outside of Wasm nothing is exported: a C library has a bind, too.
            #[cfg_attr(target_arch = "wasm32", export_name = stringify!($hook))]
            #[allow(dead_code)]
            extern "C" fn hook() -> $crate::run::$hook {
                $crate::run::report_panics();
                $crate::run::$hook($value)
            }
        };
    )+};
}

/// Declares exports by what a hook returns, what makes a result of that, and its type.
macro_rules! exports {
    ($($outcome:ty, $report:ident => $result:ty: $($name:ident($($object:ident),*))*;)*) => {$($(
        pub type $name = $result;
        pub fn $name(hook: impl Fn($(&$object),*) -> $outcome) -> $result { $report(hook($(&$object::current()),*)) }
    )*)*};
}
exports! {
    Status, code => u32: prefilter(Pod) addpod(Pod, Node, Target) removepod(Pod, Node, Target)
        filter(Pod, Node) reserve(Pod, Node) prebind(Pod, Node) bind(Pod, Node);
    Result<i32, Status>, scored => u64: score(Pod, Node);
    (Status, Duration), permitted => u64: permit(Pod, Node);
    (), identity => (): unreserve(Pod, Node) postbind(Pod, Node);
}

pub type postfilter = u64;
pub type prescore = u32;
pub type normalizescore = u32;
pub type enqueue = ();
pub type decides_by = u64;
pub type sees_resources = ();

/// Is never called.
pub fn sees_resources(_: ()) {}

fn code(status: Status) -> u32 {
    if !status.reason.is_empty() {
        host::status_reason(status.reason.as_bytes());
    }
    status.code as u32
}

fn pair(upper: u32, lower: u32) -> u64 {
    u64::from(upper) << 32 | u64::from(lower)
}

fn scored(result: Result<i32, Status>) -> u64 {
    result.map_or_else(|status| pair(0, code(status)), |score| pair(score as u32, 0))
}

/// The code is in the upper half here, the time in milliseconds in the lower one.
fn permitted((status, longest): (Status, Duration)) -> u64 {
    pair(code(status), longest.as_millis() as u32)
}

/// The upper half is 1 if a node is nominated.
pub fn postfilter(hook: impl Fn(&Pod, &[(&str, Code)]) -> Result<String, Status>) -> u64 {
    use Code::*;
    let codes = [Success, Error, Unschedulable, UnschedulableAndUnresolvable, Wait, Skip, Pending];
    let list = host::node_to_status_map();
    let list: Vec<_> = numbers(utf8(&list)).map(|(name, n)| (name, *codes.get(n as usize).unwrap_or(&Error))).collect();
    scored(hook(&Pod::current(), &list).map(|nominated| {
        host::nominated_node_name(nominated);
        1
    }))
}

pub fn prescore(hook: impl Fn(&Pod, &[&str]) -> Status) -> u32 {
    code(hook(&Pod::current(), &names(utf8(&host::filtered_node_list())).collect::<Vec<_>>()))
}

pub fn normalizescore(hook: impl Fn(&Pod, &mut [(&str, i64)]) -> Status) -> u32 {
    let list = host::node_score_list();
    let mut scores: Vec<_> = numbers(utf8(&list)).collect();
    let status = hook(&Pod::current(), &mut scores);
    if status.code == Code::Success {
        let members: Vec<_> = scores.iter().map(|(name, score)| format!("\"{}\":{}", name, score)).collect();
        host::normalized_score_list(format!("{{{}}}", members.join(",")));
    }
    code(status)
}

pub fn enqueue(events: impl AsRef<[(u32, u32)]>) {
    let numbers = events.as_ref().iter().flat_map(|&(resource, actions)| [resource, actions]);
    host::cluster_events(numbers.flat_map(u32::to_le_bytes).collect::<Vec<_>>());
}

/// The upper half is the address of the list, the lower one its size. Each field ends with a zero byte.
pub fn decides_by<'a>(fields: impl AsRef<[Field<'a>]>) -> u64 {
    let list = fields.as_ref().iter().flat_map(|field| match *field {
        Field::PodNamespace => ["pod.metadata.namespace", "", "\0"],
        Field::PodName => ["pod.metadata.name", "", "\0"],
        Field::PodLabel(key) => ["pod.metadata.labels['", key, "']\0"],
        Field::PodAnnotation(key) => ["pod.metadata.annotations['", key, "']\0"],
        Field::PodRequests(name) => ["pod.requests['", name, "']\0"],
        Field::NodeName => ["node.metadata.name", "", "\0"],
        Field::NodeLabel(key) => ["node.metadata.labels['", key, "']\0"],
        Field::NodeAnnotation(key) => ["node.metadata.annotations['", key, "']\0"],
        Field::NodeAllocatable(name) => ["node.allocatable['", name, "']\0"],
        Field::NodeRequested(name) => ["node.requested['", name, "']\0"],
        Field::NodePods => ["node.pods", "", "\0"],
    });
    let list = list.collect::<String>().into_bytes().leak(); // the host reads it later
    pair(list.as_ptr() as usize as u32, list.len() as u32)
}

/// The names of nodes in a JSON array, which need no escapes.
fn names(list: &str) -> impl Iterator<Item = &str> {
    let names = list.trim_matches(|c| "[]{}".contains(c)).split(',').map(|name| name.trim_matches('"'));
    names.filter(|name| !name.is_empty() && *name != "null")
}

/// The nodes of a JSON object with their numbers.
fn numbers(list: &str) -> impl Iterator<Item = (&str, i64)> {
    names(list).filter_map(|entry| entry.split_once("\":")).map(|(name, number)| (name, number.parse().ok().expect("a number")))
}
