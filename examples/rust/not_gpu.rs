//! No pod may run on a node whose name begins with "gpu-".

use guest::{Code, Field, Node, Pod, Status};

guest::hooks! {
    filter: suits,
    decides_by: [Field::NodeName], // all that the answer depends on: the host asks once for each name
}

fn suits(_: &Pod, node: &Node) -> Status {
    if node.name().starts_with("gpu-") {
        return Status::new(Code::UnschedulableAndUnresolvable, "node(s) were for GPUs only");
    }
    Status::SUCCESS
}
