//! Every hook of the crate. It logs what it hears, and answers something that no other hook does.

use guest::{log, Code, Field, Node, Pod, Severity, Status};
use std::time::Duration;

guest::hooks! {
    prefilter: |pod| {
        hear(&[&guest::config(), pod.namespace(), pod.name(), pod.uid(), pod.annotation("key").unwrap_or("none")]);
        guest::only_nodes(["a", "b"]);
        Status::SKIP
    },
    addpod: |pod, node, target| {
        hear(&[pod.name(), node.name(), "+", target.name()]);
        Status::SUCCESS
    },
    removepod: |pod, node, target| {
        hear(&[pod.name(), node.name(), "-", target.name()]);
        unsuitable(pod, node)
    },
    filter: |pod, node| {
        let labels: Vec<_> = pod.labels().map(|(key, value)| format!("{}={}", key, value)).collect();
        hear(&[&labels.join(","), node.name(), node.label("zone").unwrap_or("none"), node.annotation("zone").unwrap_or("none")]);
        unsuitable(pod, node)
    },
    postfilter: |_, codes| {
        hear(&[&format!("{:?}", codes)]);
        match codes.is_empty() {
            true => Err(Status::new(Code::Unschedulable, "none")),
            false => Ok("a".to_string()),
        }
    },
    prescore: |pod, nodes| {
        for name in nodes {
            hear(&[pod.name(), name, Node::named(name).label("zone").unwrap_or("none")]);
        }
        Status::SUCCESS
    },
    score: |pod, node| match node.name() {
        "a" => Ok(-7),
        _ => Err(unsuitable(pod, node)),
    },
    normalizescore: |_, scores| {
        scores.iter_mut().for_each(|(_, score)| *score *= 10);
        Status::SUCCESS
    },
    reserve: |pod, node| {
        hear(&[&format!("{:?} {:?} {:?} {:?}", pod.requests("gpu"), node.allocatable("gpu"), node.requested("cpu"), node.pods())]);
        unsuitable(pod, node)
    },
    unreserve: |pod, node| hear(&[pod.name(), node.name()]),
    permit: |_, _| (Status::new(Code::Wait, ""), Duration::from_secs(3)),
    prebind: |_, _| {
        hear(&[&format!("{} {} {}", guest::allow("x"), guest::reject("x"), guest::allow("y"))]);
        Status::SUCCESS
    },
    bind: |_, _| {
        guest::send_event(r#"{"Note": "bound"}"#);
        panic!("nothing is bound")
    },
    postbind: |_, _| panic!("it is too late"),
    enqueue: [(1, 1), (0, 1 << 12)],
    decides_by: [
        Field::PodNamespace, Field::PodName, Field::PodLabel("b"), Field::PodAnnotation("a"),
        Field::PodRequests("example.com/r"), Field::NodeName, Field::NodeLabel("c"), Field::NodeAnnotation("d"),
        Field::NodeAllocatable("example.com/s"), Field::NodeRequested("example.com/t"), Field::NodePods,
    ],
    sees_resources: (),
}

fn hear(words: &[&str]) {
    log(Severity::Warning, &words.join(" "));
}

fn unsuitable(_: &Pod, node: &Node) -> Status {
    Status::new(Code::Unschedulable, format!("not on {}", node.name()))
}
