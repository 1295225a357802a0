package scenario

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// words is an answer as the transcript has it.
func (s Scenario) words(call Call, answer Answer) string {
	if answer.Missing {
		return ": the plugin has no such hook"
	}
	var text []string
	if answer.Status != nil {
		text = append(text, s.status(call, *answer.Status))
	}
	if answer.NodeNames != nil {
		text = append(text, fmt.Sprintf("nodes %q", answer.NodeNames))
	}
	if answer.Nominated != "" || answer.Mode != 0 {
		text = append(text, fmt.Sprintf("nominates %q in mode %d", answer.Nominated, answer.Mode))
	}
	if call.Hook == "score" {
		text = append(text, fmt.Sprint(answer.Score))
	}
	if answer.Scores != nil {
		text = append(text, pairs(answer.Scores))
	}
	if answer.Timeout != 0 {
		text = append(text, fmt.Sprint(answer.Timeout))
	}
	for _, event := range answer.Events {
		text = append(text, "\n    "+event.Resource+" "+strings.Join(event.Actions, " "))
	}
	if len(text) == 0 {
		return "" // unreserve and postbind
	}
	return ": " + strings.ReplaceAll(strings.Join(text, "; "), "; \n", "\n")
}

func (s Scenario) status(call Call, status Status) string {
	switch {
	case status.Trap:
		return status.Code + ", a trap"
	case status.Reason == "":
		return status.Code
	}
	return status.Code + ", " + s.read(call, status.Reason)
}

// read says what a reason is.
func (s Scenario) read(call Call, reason string) string {
	if call.Reads != "" {
		read, err := hex.DecodeString(reason)
		if err != nil {
			return fmt.Sprintf("%q", reason) // in the host's own words
		}
		reason = string(read)
	}
	switch call.Reads {
	case "pod":
		var pod v1.Pod
		return s.object(pod.Unmarshal([]byte(reason)), pod)
	case "node":
		var node v1.Node
		return s.object(node.Unmarshal([]byte(reason)), node)
	case "nodes":
		var list v1.NodeList
		if err := list.Unmarshal([]byte(reason)); err != nil {
			return fmt.Sprintf("no list of nodes: %q", reason)
		}
		var names []string
		for _, node := range list.Items {
			names = append(names, s.object(nil, node))
		}
		return strings.Join(names, " and ")
	case "images":
		return images(reason)
	case "size":
		return s.size(call, reason)
	}
	return fmt.Sprintf("%q", reason)
}

// object names the object that was read, if it is all of one of the cluster's.
func (s Scenario) object(err error, object any) string {
	if err == nil {
		for _, pod := range s.Cluster.Pods {
			if equality.Semantic.DeepEqual(object, pod) {
				return "pod " + pod.Name
			}
		}
		for _, node := range s.Cluster.Nodes {
			if equality.Semantic.DeepEqual(object, node) {
				return "node " + node.Name
			}
		}
	}
	return "an object that is none of the cluster's"
}

// images omits what only some versions of Kubernetes have.
func images(reason string) string {
	var states map[string]struct {
		Size     int64
		NumNodes int
	}
	if err := json.Unmarshal([]byte(reason), &states); err != nil {
		return fmt.Sprintf("no images: %q", reason)
	}
	if len(states) == 0 {
		return "no images"
	}
	return "images " + pairs(states)
}

// size names what has the size that was read: objects have other sizes in other
// versions of Kubernetes.
func (s Scenario) size(call Call, reason string) string {
	if len(reason) != 4 {
		return fmt.Sprintf("no size: %q", reason)
	}
	size := int(binary.LittleEndian.Uint32([]byte(reason)))
	for _, name := range []string{call.Target, call.Pod} {
		if name != "" && s.Cluster.Pod(name).Size() == size {
			return "the size of pod " + name
		}
	}
	for _, node := range s.Cluster.Nodes {
		if slices.Contains(call.Nodes, node.Name) && node.Size() == size {
			return "the size of node " + node.Name
		}
	}
	list := v1.NodeList{Items: s.Cluster.Nodes}
	if list.Size() == size {
		return "the size of all nodes"
	}
	return fmt.Sprintf("size %d", size)
}
