//! A pod with the annotation example.com/prefix runs only on nodes whose name begins with its value.

use guest::{Code, Field, Node, Pod, Status};

const KEY: &str = "example.com/prefix";

guest::hooks! {
    filter: suits,
    decides_by: [Field::PodAnnotation(KEY), Field::NodeName], // the host asks once for each pair of values
}

fn suits(pod: &Pod, node: &Node) -> Status {
    match pod.annotation(KEY) {
        Some(prefix) if !node.name().starts_with(prefix) => {
            Status::new(Code::UnschedulableAndUnresolvable, "node(s) had a name with another prefix")
        }
        _ => Status::SUCCESS,
    }
}
