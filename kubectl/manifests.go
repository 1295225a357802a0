package kubectl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml/goyaml.v3"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// templates are where the kinds of Kubernetes have their pod template. Other kinds,
// such as those of custom resources, have one wherever something has containers.
var templates = map[string]string{
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

// manifest is an object in a file.
type manifest struct {
	unstructured.Unstructured
	file    string
	text    yamlcheck.Text // of the object alone
	entries []entry
}

// entry is an annotation or a label of the object or of a template in it.
type entry struct {
	key     string
	at      *yaml.Node // its value
	isLabel bool
	ofPod   bool
}

func (m *manifest) String() string {
	name := m.GetName()
	if name == "" {
		name = m.GetGenerateName()
	}
	if m.GetNamespace() != "" {
		name = m.GetNamespace() + "/" + name
	}
	return strings.TrimSpace(m.GetKind() + " " + name)
}

// wanted is where the annotation belongs.
func (m *manifest) wanted() string {
	if path, ok := templates[m.GetKind()]; ok {
		return strings.TrimPrefix(path+".metadata.annotations", ".")
	}
	return "the metadata.annotations of a pod or of a pod template"
}

// extensions are those of the files that are read in a folder.
var extensions = []string{".yaml", ".yml", ".json"}

// eachManifest calls look with each annotation and label of the objects in a file, in the
// files of a folder, or for - in standard input.
func (o *options) eachManifest(ctx context.Context, path string, look func(*manifest, entry)) error {
	if path == "-" {
		return o.readManifests(path, "stdin", look)
	}
	return filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if entry.IsDir() || file != path && !slices.Contains(extensions, filepath.Ext(file)) {
			return nil
		}
		return o.readManifests(file, file, look)
	})
}

func (o *options) readManifests(file, shown string, look func(*manifest, entry)) error {
	text, err := o.readFile(file)
	if err != nil {
		return err
	}
	documents := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		var value any
		err := documents.Decode(&document)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = document.Decode(&value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w; what a template engine has to fill in first cannot be read", shown, err)
		}
		readObject(shown, yamlcheck.Of(&document), value, look)
	}
}

// readObject reads an object, or those of a List. What is no object of Kubernetes,
// such as a file of Helm values, is passed over.
func readObject(file string, text yamlcheck.Text, value any, look func(*manifest, entry)) {
	m := &manifest{file: file, text: text}
	m.Object, _ = value.(map[string]any)
	if m.GetKind() == "" || m.GetAPIVersion() == "" {
		return
	}
	if items, ok := m.Object["items"].([]any); ok && strings.HasSuffix(m.GetKind(), "List") {
		for i, item := range items {
			readObject(file, text.At(fmt.Sprintf("items[%d]", i)), item, look)
		}
		return
	}
	m.collect(value, "")
	for _, e := range m.entries {
		look(m, e)
	}
}

// collect finds the annotations and labels of an object and of the templates in it.
func (m *manifest) collect(value any, path string) {
	if items, ok := value.([]any); ok {
		for i, item := range items {
			m.collect(item, fmt.Sprintf("%s[%d]", path, i))
		}
	}
	fields, _ := value.(map[string]any)
	for key, child := range fields {
		m.collect(child, strings.TrimPrefix(path+"."+key, "."))
	}
	for _, kind := range []string{"annotations", "labels"} {
		keys, _, _ := unstructured.NestedFieldNoCopy(fields, "metadata", kind)
		named, _ := keys.(map[string]any)
		for key := range named {
			_, at := m.text.Find(fmt.Sprintf("%s.metadata.%s[%s]", path, kind, key))
			m.add(entry{key: key, at: at, isLabel: kind == "labels", ofPod: m.isPod(fields, path)})
		}
	}
}

// add takes an entry once, however many aliases stand for it: on a pod, if it is on one.
func (m *manifest) add(e entry) {
	i := slices.IndexFunc(m.entries, func(other entry) bool { return other.at == e.at })
	if i < 0 {
		m.entries = append(m.entries, e)
	} else if e.ofPod {
		m.entries[i] = e
	}
}

// isPod reports whether a part of the object is a pod or a pod template.
func (m *manifest) isPod(fields map[string]any, path string) bool {
	if known, ok := templates[m.GetKind()]; ok {
		return path == known
	}
	_, found, _ := unstructured.NestedFieldNoCopy(fields, "spec", "containers")
	return found
}
