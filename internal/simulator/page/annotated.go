package page

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"sigs.k8s.io/yaml/goyaml.v3"

	"wasmkwokwizardry.io/regex-scheduling/internal/lint"
)

// annotated is a text whose first pod, or pod template, has annotations to read and to set.
type annotated struct {
	documents []*yaml.Node
	object    *yaml.Node // the mapping of the first object with a pod
	pod       *yaml.Node // that of the pod in it
}

var errNoPod = errors.New("the text has no pod")

// readAnnotated parses a text. It reads and sets values wherever YAML may have them: in any quotes
// or none, over several lines, between braces, before a comment.
func readAnnotated(text string) (*annotated, error) {
	a := &annotated{}
	for decoder := yaml.NewDecoder(bytes.NewBufferString(text)); ; {
		document := &yaml.Node{}
		err := decoder.Decode(document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		root := document.Content[0]
		kind := find(root, "kind")
		if a.pod == nil && kind != nil {
			a.object = root
			a.pod = podOf(root, kind.Value)
		}
		if root.ShortTag() != "!!null" {
			a.documents = append(a.documents, document)
		}
	}
	if a.pod == nil {
		return nil, errNoPod
	}
	return a, nil
}

// podOf is the pod or the pod template of an object, or nil.
func podOf(object *yaml.Node, kind string) *yaml.Node {
	template, ok := lint.Templates[kind]
	if !ok {
		return nil
	}
	return find(object, strings.FieldsFunc(template, func(r rune) bool { return r == '.' })...)
}

// Scheduler is the pod's schedulerName, which may be empty.
func (a *annotated) Scheduler() string {
	name := find(a.pod, "spec", "schedulerName")
	if name == nil {
		return ""
	}
	return name.Value
}

// Get is the value of an annotation of the pod, or nil.
func (a *annotated) Get(key string) *string {
	value := find(a.pod, "metadata", "annotations", key)
	if value == nil {
		return nil
	}
	return &value.Value
}

// Misplaced reports whether a key is in another place than the annotations, where no scheduler reads it.
func (a *annotated) Misplaced(key string) bool {
	return a.Get(key) == nil && count(a.object, key) > 0
}

func count(n *yaml.Node, key string) (found int) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.Value == key {
			found++
		}
		found += count(child, key)
	}
	return found
}

// Set sets an annotation of the pod, or removes it from the object with an empty value. A misplaced one moves.
func (a *annotated) Set(key, value string) {
	if value == "" || a.Misplaced(key) {
		remove(a.object, key)
	}
	annotations := find(a.pod, "metadata", "annotations")
	if value == "" {
		if annotations != nil && len(annotations.Content) == 0 {
			remove(find(a.pod, "metadata"), "annotations")
		}
		return
	}
	at := fieldOf(fieldOf(fieldOf(a.pod, "metadata"), "annotations"), key)
	*at = yaml.Node{
		Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.SingleQuotedStyle, Value: value,
		HeadComment: at.HeadComment, LineComment: at.LineComment, FootComment: at.FootComment,
	}
}

// String is the text. It keeps comments, and indents by two.
func (a *annotated) String() string {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	for _, document := range a.documents {
		err := encoder.Encode(document)
		if err != nil {
			panic(err) // it was decoded from text
		}
	}
	_ = encoder.Close() // into memory
	return out.String()
}

// find is the value at a path, or nil.
func find(n *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		n = valueOf(n, name)
	}
	return n
}

// valueOf is the value of a field, or nil.
func valueOf(n *yaml.Node, name string) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 1; i < len(n.Content); i += 2 {
		if n.Content[i-1].Value == name {
			return n.Content[i]
		}
	}
	return nil
}

// fieldOf is the value of a field, which it adds if there is none. What has no fields becomes an object.
func fieldOf(n *yaml.Node, name string) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		*n = yaml.Node{Kind: yaml.MappingNode}
	}
	found := valueOf(n, name)
	if found != nil {
		return found
	}
	added := &yaml.Node{}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, added)
	return added
}

// remove removes a field wherever it is.
func remove(n *yaml.Node, name string) {
	var kept []*yaml.Node
	for i, child := range n.Content {
		if n.Kind != yaml.MappingNode || n.Content[i-i%2].Value != name {
			remove(child, name)
			kept = append(kept, child)
		}
	}
	n.Content = kept
}
