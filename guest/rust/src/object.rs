//! Views of pods and nodes, over protobuf. What is not valid is a panic.

use crate::host::{self, utf8, Once};
use alloc::vec::Vec;

/// A pod or a node. The host sends it when a method first needs it, and once; of a node, the name alone where that is enough.
pub struct Object<const KIND: u8> {
    name: Once<Vec<u8>>,
    whole: Once<Vec<u8>>,
}

/// The pod of the scheduling cycle.
pub type Pod = Object<0>;
/// The pod that `addpod` and `removepod` are about.
pub type Target = Object<1>;
/// A node: that of the call, or another by its name.
pub type Node = Object<2>;

impl Node {
    /// A node by its name, for a hook that is about several nodes. If there is no such node, it has no label, no annotation and no UID. A
    /// guest that declares its fields may ask for no other node than the hook's own.
    pub fn named(name: &str) -> Node {
        Node { name: Once::new(Some(name.into())), whole: Once::new(None) }
    }
}

// Numbers of fields are as in generated.proto of k8s.io/api/core/v1 and k8s.io/apimachinery/pkg/apis/meta/v1.
impl<const KIND: u8> Object<KIND> {
    pub(crate) fn current() -> Self {
        Object { name: Once::new(None), whole: Once::new(None) }
    }

    /// An object of its bytes in protobuf, for tests.
    pub fn given(protobuf: Vec<u8>) -> Self {
        let object = Object { name: Once::new(None), whole: Once::new(Some(protobuf)) };
        object.name.get(|| object.text(1).into());
        object
    }

    /// The whole object in protobuf, of `v1.Pod` or `v1.Node`.
    pub fn protobuf(&self) -> &[u8] {
        self.whole.get(|| match KIND {
            0 => host::current_pod(),
            1 => host::target_pod(),
            _ => host::node(self.name()),
        })
    }

    pub fn name(&self) -> &str {
        utf8(self.name.get(|| if KIND < 2 { self.text(1).into() } else { host::current_node_name() }))
    }

    /// The namespace, empty for a node.
    pub fn namespace(&self) -> &str {
        self.text(3)
    }

    pub fn uid(&self) -> &str {
        self.text(5)
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        Some(self.labels().filter(|(name, _)| *name == key).last()?.1)
    }

    /// The value of an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        Some(self.annotations().filter(|(name, _)| *name == key).last()?.1)
    }

    /// All labels, as keys and values.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        entries(self.metadata(11))
    }

    /// All annotations, as keys and values.
    pub fn annotations(&self) -> impl Iterator<Item = (&str, &str)> {
        entries(self.metadata(12))
    }

    /// How much of a resource the pod requests, as kube-scheduler counts: in thousandths of a "cpu", bytes of "memory" and
    /// "ephemeral-storage", and units of others. There is no amount that is not declared in `decides_by`, or without `sees_resources`; of a
    /// node when the pod is bound; or in a host that does not count.
    pub fn requests(&self, resource: &str) -> Option<i64> {
        self.amount(2, resource)
    }

    /// How much of a resource the node has for pods, likewise.
    pub fn allocatable(&self, resource: &str) -> Option<i64> {
        self.amount(3, resource)
    }

    /// How much of a resource the pods on the node request, likewise.
    pub fn requested(&self, resource: &str) -> Option<i64> {
        self.amount(4, resource)
    }

    /// How many pods there are on the node, likewise.
    pub fn pods(&self) -> Option<i64> {
        let resources = self.resources()?;
        numbers(resources, 5).last().map(|pods| pods as i64).or_else(|| complete(resources))
    }

    /// The field that the host adds.
    fn resources(&self) -> Option<&[u8]> {
        fields(self.protobuf(), 1000).last()
    }

    fn amount(&self, kind: u64, resource: &str) -> Option<i64> {
        let resources = self.resources()?;
        let named = |entry: &&[u8]| fields(entry, 1).last() == Some(resource.as_bytes());
        match fields(resources, kind).filter(named).last() {
            Some(entry) => Some(numbers(entry, 2).last().unwrap_or(0) as i64),
            None => complete(resources),
        }
    }

    fn text(&self, number: u64) -> &str {
        utf8(self.metadata(number).last().unwrap_or(b""))
    }

    fn metadata(&self, number: u64) -> impl Iterator<Item = &[u8]> {
        fields(self.protobuf(), 1).flat_map(move |metadata| fields(metadata, number))
    }
}

const INVALID: &str = "the host sent an object that is not valid protobuf";

/// The length-delimited fields of a message that have a number.
fn fields(message: &[u8], number: u64) -> impl Iterator<Item = &[u8]> {
    all(message).filter(move |field| field.0 == number << 3 | 2).map(|field| field.1)
}

/// 0 for an amount that is missing, where all are there that are not 0.
fn complete(resources: &[u8]) -> Option<i64> {
    numbers(resources, 1).last().filter(|complete| *complete != 0).map(|_| 0)
}

/// The varints of a message that have a number.
fn numbers(message: &[u8], number: u64) -> impl Iterator<Item = u64> + '_ {
    all(message).filter(move |field| field.0 == number << 3).map(|field| field.2)
}

/// The tags of a message's fields, with what they are of: bytes, or a varint.
fn all(mut message: &[u8]) -> impl Iterator<Item = (u64, &[u8], u64)> {
    core::iter::from_fn(move || {
        if message.is_empty() {
            return None;
        }
        let tag = varint(&mut message);
        let number = match (tag >> 3, tag & 7) {
            (1.., 1) => 8,
            (1.., 5) => 4,
            (1.., 0 | 2) => varint(&mut message),
            _ => panic!("{}", INVALID),
        };
        let size = if tag & 7 == 0 { 0 } else { usize::try_from(number).unwrap_or(usize::MAX) };
        let (value, rest) = message.get(..size).zip(message.get(size..)).expect(INVALID);
        message = rest;
        Some((tag, value, number))
    })
}

/// The keys and values of a map, whose entries are messages. Of a field that is there twice, the last one counts.
fn entries<'a>(map: impl Iterator<Item = &'a [u8]>) -> impl Iterator<Item = (&'a str, &'a str)> {
    map.map(|entry| {
        let part = |number| utf8(fields(entry, number).last().unwrap_or(b""));
        (part(1), part(2))
    })
}

/// Takes a number from the start of a message: seven bits in each byte, the lowest first, 64 bits at most.
fn varint(message: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first().expect(INVALID);
        *message = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 && (shift < 63 || *byte < 2) {
            return number;
        }
    }
    panic!("{}", INVALID)
}
