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

    fn text(&self, number: u64) -> &str {
        utf8(self.metadata(number).last().unwrap_or(b""))
    }

    fn metadata(&self, number: u64) -> impl Iterator<Item = &[u8]> {
        fields(self.protobuf(), 1).flat_map(move |metadata| fields(metadata, number))
    }
}

const INVALID: &str = "the host sent an object that is not valid protobuf";

/// The length-delimited fields of a message that have a number.
fn fields(mut message: &[u8], number: u64) -> impl Iterator<Item = &[u8]> {
    core::iter::from_fn(move || {
        while !message.is_empty() {
            let tag = varint(&mut message);
            let size = match (tag >> 3, tag & 7) {
                (1.., 1) => 8,
                (1.., 5) => 4,
                (1.., 0 | 2) => varint(&mut message),
                _ => panic!("{}", INVALID),
            };
            let size = if tag & 7 == 0 { 0 } else { usize::try_from(size).unwrap_or(usize::MAX) }; // of a number, the value was read
            let (value, rest) = message.get(..size).zip(message.get(size..)).expect(INVALID);
            message = rest;
            if tag == number << 3 | 2 {
                return Some(value);
            }
        }
        None
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
