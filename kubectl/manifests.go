package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml/goyaml.v3"
)

// templates are where the kinds of Kubernetes have their pod template. Other kinds,
// such as those of custom resources, have one wherever something has containers.
var templates = map[string][]string{
	"Pod":                   {},
	"PodTemplate":           {"template"},
	"Deployment":            {"spec", "template"},
	"ReplicaSet":            {"spec", "template"},
	"ReplicationController": {"spec", "template"},
	"StatefulSet":           {"spec", "template"},
	"DaemonSet":             {"spec", "template"},
	"Job":                   {"spec", "template"},
	"CronJob":               {"spec", "jobTemplate", "spec", "template"},
}

// manifest is an object in a file.
type manifest struct {
	file                  string
	kind, namespace, name string
	metadata              []metadata
	seen                  sets.Set[*yaml.Node]
}

// metadata is that of the object, or of a template in it.
type metadata struct {
	ofPod               bool
	annotations, labels []entry
}

// entry is one annotation or label.
type entry struct {
	key, value   string
	isString     bool
	line, column int // of the value, from 1
}

func (m manifest) String() string {
	name := m.name
	if m.namespace != "" {
		name = m.namespace + "/" + name
	}
	return strings.TrimSpace(m.kind + " " + name)
}

// wanted is where the annotation belongs.
func (m manifest) wanted() string {
	if path, ok := templates[m.kind]; ok {
		return strings.Join(slices.Concat(path, []string{"metadata", "annotations"}), ".")
	}
	return "the metadata.annotations of a pod or of a pod template"
}

// extensions are those of the files that are read in a folder.
var extensions = []string{".yaml", ".yml", ".json"}

// eachManifest calls look with each object in a file, in the files of a folder, or
// for - in standard input.
func (o *options) eachManifest(ctx context.Context, path string, look func(manifest)) error {
	if path == "-" {
		return readManifests("stdin", o.In, look)
	}
	return filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if entry.IsDir() || file != path && !slices.Contains(extensions, filepath.Ext(file)) {
			return nil
		}
		in, closing, err := o.open(file)
		if err != nil {
			return err
		}
		defer closing()
		return readManifests(file, in, look)
	})
}

func readManifests(file string, in io.Reader, look func(manifest)) error {
	documents := yaml.NewDecoder(in)
	for {
		var document yaml.Node
		err := documents.Decode(&document)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w; what a template engine has to fill in first cannot be read", file, err)
		}
		if len(document.Content) > 0 {
			readObject(file, document.Content[0], look)
		}
	}
}

// readObject reads an object, or those of a List. What is no object of Kubernetes,
// such as a file of Helm values, is passed over.
func readObject(file string, object *yaml.Node, look func(manifest)) {
	kind := text(object, "kind")
	if kind == "" || text(object, "apiVersion") == "" {
		return
	}
	if items := field(object, "items"); strings.HasSuffix(kind, "List") && items != nil {
		for _, item := range items.Content {
			readObject(file, resolve(item), look)
		}
		return
	}
	m := manifest{file: file, kind: kind, seen: sets.New[*yaml.Node]()}
	if meta := field(object, "metadata"); meta != nil {
		m.namespace, m.name = text(meta, "namespace"), text(meta, "name")
		if m.name == "" {
			m.name = text(meta, "generateName")
		}
	}
	m.collect(object, []string{})
	look(m)
}

// collect finds the metadata of an object and of the templates in it. What an alias
// stands for is looked at once, wherever it stands.
func (m *manifest) collect(node *yaml.Node, path []string) {
	if m.seen.Has(node) {
		return
	}
	m.seen.Insert(node)
	if meta := field(node, "metadata"); meta != nil {
		m.metadata = append(m.metadata, metadata{
			ofPod: m.isPod(node, path), annotations: entries(field(meta, "annotations")), labels: entries(field(meta, "labels")),
		})
	}
	for key, value := range pairs(node) {
		m.collect(value, slices.Concat(path, []string{key.Value}))
	}
	if node.Kind == yaml.SequenceNode {
		for _, item := range node.Content {
			m.collect(resolve(item), slices.Concat(path, []string{"[]"}))
		}
	}
}

// isPod reports whether a mapping is a pod or a pod template.
func (m *manifest) isPod(node *yaml.Node, path []string) bool {
	if known, ok := templates[m.kind]; ok {
		return slices.Equal(path, known)
	}
	spec := field(node, "spec")
	return spec != nil && field(spec, "containers") != nil
}

// entries are those of a map of strings.
func entries(node *yaml.Node) []entry {
	var all []entry
	for key, value := range pairs(node) {
		all = append(all, entry{
			key: key.Value, value: value.Value, isString: value.ShortTag() == "!!str", line: value.Line, column: value.Column,
		})
	}
	return all
}

// pairs are the keys and values of a mapping, and of those that are merged into it.
func pairs(node *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		eachPair(node, maxMerges, yield)
	}
}

// maxMerges is how deep mappings may be merged into one another: an anchor can name
// a mapping that has it inside.
const maxMerges = 8

func eachPair(node *yaml.Node, merges int, yield func(key, value *yaml.Node) bool) bool {
	if node == nil || node.Kind != yaml.MappingNode || merges == 0 {
		return true
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], resolve(node.Content[i+1])
		if key.ShortTag() != "!!merge" {
			if !yield(key, value) {
				return false
			}
			continue
		}
		merged := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			merged = value.Content
		}
		for _, m := range merged {
			if !eachPair(resolve(m), merges-1, yield) {
				return false
			}
		}
	}
	return true
}

// field is a value of a mapping, or nil.
func field(node *yaml.Node, name string) *yaml.Node {
	for key, value := range pairs(node) {
		if key.Value == name {
			return value
		}
	}
	return nil
}

// text is a field that is a scalar, or "".
func text(node *yaml.Node, name string) string {
	if value := field(node, name); value != nil && value.Kind == yaml.ScalarNode {
		return value.Value
	}
	return ""
}

// resolve follows an alias.
func resolve(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}
