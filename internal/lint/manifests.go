package lint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	kyaml "sigs.k8s.io/yaml"
	"sigs.k8s.io/yaml/goyaml.v3"
)

// Templates has the path of the pod template in each kind of Kubernetes.
var Templates = map[string]string{
	"Pod":                   "",
	"PodTemplate":           "template",
	"Deployment":            "spec.template",
	"ReplicaSet":            "spec.template",
	"ReplicationController": "spec.template",
	"StatefulSet":           "spec.template",
	"DaemonSet":             "spec.template",
	"Job":                   "spec.template",
	"CronJob":               "spec.jobTemplate.spec.template",
}

// manifest is an object in a file, or values, which have no kind.
type manifest struct {
	file, apiVersion, kind, name, namespace string

	entries []entry
}

// entry is an annotation or a label of the object or of something in it.
type entry struct {
	key     string
	at      *yaml.Node // its value
	path    string     // of the map
	isLabel bool
	ofPod   bool // as far as is known
}

func (m *manifest) String() string {
	name := m.name
	if m.namespace != "" {
		name = m.namespace + "/" + name
	}
	return strings.TrimSpace(m.kind + " " + name)
}

// wanted returns where the annotation belongs.
func (m *manifest) wanted() string {
	if path, ok := Templates[m.kind]; ok {
		return strings.TrimPrefix(path+".metadata.annotations", ".")
	}
	return "the metadata.annotations of a pod or of a pod template"
}

// isCustom reports whether the object is none of Kubernetes' own, so that what becomes a pod of it is not known.
func (m *manifest) isCustom() bool {
	return !scheme.Scheme.Recognizes(schema.FromAPIVersionAndKind(m.apiVersion, m.kind))
}

// Read checks the annotations and labels in a text. After a document that is broken, it checks the next ones.
func (l *Linter) Read(file string, text []byte) {
	line := 0
	for part := range parts(text) {
		documents, err := decode(part)
		for _, document := range documents {
			shift(document, line)
			l.object(file, document, "", "")
		}
		if err != nil {
			l.broken(file, line, err)
		}
		line += bytes.Count(part, []byte("\n"))
	}
}

// broken reports a part of a file that is not YAML.
func (l *Linter) broken(file string, before int, err error) {
	line, says := 1, err.Error()
	found := parserLine.FindStringSubmatch(says)
	if found != nil {
		line, _ = strconv.Atoi(found[1])
		says = fmt.Sprintf("yaml: line %d: %s", before+line, strings.TrimPrefix(says, found[0]))
	}
	l.Unreadable(file, before+line, errors.New(says+"; lint does not read templates"))
}

// parts cuts a text before each line that begins a document.
func parts(text []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		begin, at := 0, 0
		for line := range bytes.Lines(text) {
			marker := bytes.HasPrefix(line, []byte("---")) && (len(line) == 3 || strings.ContainsRune(" \t\r\n", rune(line[3])))
			if marker && at > begin {
				if !yield(text[begin:at]) {
					return
				}
				begin = at
			}
			at += len(line)
		}
		yield(text[begin:])
	}
}

// decode reads documents up to the first one that is not YAML.
func decode(text []byte) (documents []*yaml.Node, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		var value any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err == nil {
			err = document.Decode(&value) // finds aliases of themselves, and too many of them
		}
		if err != nil {
			return documents, err
		}
		documents = append(documents, document.Content...)
	}
}

func shift(node *yaml.Node, lines int) {
	node.Line += lines
	for _, child := range node.Content {
		shift(child, lines)
	}
}

// object checks an object, or the items of a List, which may have no kind of their own.
func (l *Linter) object(file string, node *yaml.Node, apiVersion, kind string) {
	fields := mapping(node)
	m := &manifest{file: file, apiVersion: text(fields["apiVersion"]), kind: text(fields["kind"])}
	if m.apiVersion == "" && m.kind == "" {
		m.apiVersion, m.kind = apiVersion, kind
	}
	of, ok := strings.CutSuffix(m.kind, "List")
	if ok && fields["items"] != nil {
		for _, item := range resolved(fields["items"]).Content {
			l.object(file, item, m.apiVersion, of)
		}
		return
	}
	metadata := mapping(fields["metadata"])
	m.name, m.namespace = text(metadata["name"]), text(metadata["namespace"])
	if m.name == "" {
		m.name = text(metadata["generateName"])
	}
	l.collect(m, node, "", map[*yaml.Node]int{})
	for _, e := range m.entries {
		l.look(m, e)
	}
}

// collect finds what may be an annotation or a label of ours, wherever it stands. at has the index in entries of each
// value. An object in an object is checked as one.
func (l *Linter) collect(m *manifest, node *yaml.Node, path string, at map[*yaml.Node]int) {
	node = resolved(node)
	if node == nil {
		return
	}
	if node.Kind == yaml.SequenceNode {
		for _, item := range node.Content {
			l.collect(m, item, path+"[]", at)
		}
		return
	}
	fields := mapping(node)
	if path != "" && text(fields["apiVersion"]) != "" && text(fields["kind"]) != "" && fields["metadata"] != nil {
		l.object(m.file, node, "", "")
		return
	}
	name := strings.ToLower(path[strings.LastIndexByte(path, '.')+1:])
	isLabel := strings.HasSuffix(name, "labels")
	isNamed := isLabel || strings.HasSuffix(name, "annotations")
	for key, child := range fields {
		if isNamed || strings.Contains(key, "/") {
			m.add(entry{key: key, at: child, path: path, isLabel: isLabel, ofPod: m.isOfPod(path)}, at)
		}
		l.collect(m, child, strings.TrimPrefix(path+"."+key, "."), at)
	}
}

// add adds an entry once, even if several aliases refer to it. An entry on a pod wins.
func (m *manifest) add(e entry, at map[*yaml.Node]int) {
	i, known := at[e.at]
	switch {
	case !known:
		at[e.at] = len(m.entries)
		m.entries = append(m.entries, e)
	case e.ofPod:
		m.entries[i] = e
	}
}

// isOfPod reports whether a map is of a pod or of a pod template. In a custom resource and in values, that is any map but
// the object's own, and what is called after other objects.
func (m *manifest) isOfPod(path string) bool {
	template, ok := Templates[m.kind]
	if ok && !m.isCustom() {
		of, found := strings.CutPrefix("."+path, strings.TrimSuffix("."+template, "."))
		return found && (of == ".metadata.annotations" || of == ".metadata.labels")
	}
	own := strings.HasPrefix(path, "metadata.") && m.kind != ""
	return m.isCustom() && !own && !ofOthers.MatchString(path)
}

// isString reports whether Kubernetes' decoders read a value as text. To them y, no, on and such are booleans, and a date
// is text.
func isString(node *yaml.Node) bool {
	if node.Kind != yaml.ScalarNode {
		return false
	}
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if node.Style&(quoted|yaml.TaggedStyle) != 0 {
		return node.ShortTag() == "!!str"
	}
	var value map[string]any
	if kyaml.Unmarshal([]byte("value: "+node.Value), &value) != nil {
		return true
	}
	_, ok := value["value"].(string)
	return ok
}

// resolved returns the node that an alias refers to.
func resolved(node *yaml.Node) *yaml.Node {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// mapping returns the fields of a mapping by name, merged ones included.
func mapping(node *yaml.Node) map[string]*yaml.Node {
	node = resolved(node)
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	fields := make(map[string]*yaml.Node, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := resolved(node.Content[i]), node.Content[i+1]
		if key.ShortTag() == "!!merge" {
			merge(fields, value)
		} else {
			fields[key.Value] = resolved(value)
		}
	}
	return fields
}

// merge adds the fields of a mapping, or of a list of them, that are still missing.
func merge(fields map[string]*yaml.Node, from *yaml.Node) {
	sources := []*yaml.Node{from}
	list := resolved(from)
	if list.Kind == yaml.SequenceNode {
		sources = list.Content
	}
	for _, source := range sources {
		for key, value := range mapping(source) {
			if _, ok := fields[key]; !ok {
				fields[key] = value
			}
		}
	}
}

func text(node *yaml.Node) string {
	if node == nil {
		return ""
	}
	return node.Value
}
