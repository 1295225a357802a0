package kubectl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml/goyaml.v3"
)

// templates has the path of the pod template in each kind of Kubernetes.
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

// builtIn are the API groups of Kubernetes without a dot in their names. The others end
// in .k8s.io.
var builtIn = []string{"", "apps", "autoscaling", "batch", "policy"}

// manifest is an object in a file.
type manifest struct {
	file, apiVersion, kind, name, namespace string

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
	name := m.name
	if m.namespace != "" {
		name = m.namespace + "/" + name
	}
	return strings.TrimSpace(m.kind + " " + name)
}

// wanted returns where the annotation belongs.
func (m *manifest) wanted() string {
	if path, ok := templates[m.kind]; ok {
		return strings.TrimPrefix(path+".metadata.annotations", ".")
	}
	return "the metadata.annotations of a pod or of a pod template"
}

// isCustom reports whether the object is a custom resource. Its controller may copy
// annotations to pods.
func (m *manifest) isCustom() bool {
	group, _, grouped := strings.Cut(m.apiVersion, "/")
	return grouped && !slices.Contains(builtIn, group) && !strings.HasSuffix(group, ".k8s.io")
}

// extensions are the file name extensions of manifests.
var extensions = []string{".yaml", ".yml", ".json"}

// files returns the path itself, or the manifests in a folder. It skips paths and names that
// a pattern of exclude matches, and calls bad for a file that cannot be read.
func files(ctx context.Context, path string, exclude []string, bad func(file string, err error)) (all []string, err error) {
	if path == "-" {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	return all, filepath.WalkDir(path+string(filepath.Separator), func(file string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		relative, _ := filepath.Rel(path, file)
		if slices.ContainsFunc(exclude, func(pattern string) bool { return excludes(pattern, relative) }) {
			if entry != nil && entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if err == nil && (entry.IsDir() || !slices.Contains(extensions, filepath.Ext(file))) {
			return nil
		}
		if err == nil {
			info, err = os.Stat(file) // behind a link
		}
		switch {
		case err != nil:
			bad(file, err)
		case info.Mode().IsRegular():
			all = append(all, file)
		}
		return nil
	})
}

// excludes reports whether a pattern of --exclude matches a path in a folder, or its base name.
func excludes(pattern, path string) bool {
	whole, _ := filepath.Match(pattern, path)
	last, _ := filepath.Match(pattern, filepath.Base(path))
	return path != "." && (whole || last)
}

// eachManifest calls look with each annotation and label of the objects in a file. After a
// syntax error, the objects before it have been checked.
func (o *options) eachManifest(file string, look func(*manifest, entry)) error {
	text, err := o.readFile(file)
	if err != nil {
		return err
	}
	begin := bytes.TrimLeft(text, " \t\r\n\ufeff")
	if len(begin) > 0 && begin[0] == '{' {
		if documents, err := readJSON(text); err == nil {
			for _, document := range documents {
				readObject(shownAs(file), document, "", "", look)
			}
			return nil
		} // else it may be YAML
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
			err = document.Decode(&value) // finds aliases of themselves, and too many of them
		}
		if err != nil {
			return fmt.Errorf("%w; lint does not read templates", err)
		}
		if len(document.Content) > 0 {
			readObject(shownAs(file), document.Content[0], "", "", look)
		}
	}
}

// shownAs returns the name of a file in findings.
func shownAs(file string) string {
	if file == "-" {
		return "stdin"
	}
	return file
}

// readObject reads an object, or the items of a List, which may have no kind of their own.
// It skips what is not an object of Kubernetes, such as Helm values.
func readObject(file string, node *yaml.Node, apiVersion, kind string, look func(*manifest, entry)) {
	fields := mapping(node)
	m := &manifest{file: file, apiVersion: text(fields["apiVersion"]), kind: text(fields["kind"])}
	if m.apiVersion == "" && m.kind == "" {
		m.apiVersion, m.kind = apiVersion, kind
	}
	if m.kind == "" || m.apiVersion == "" {
		return
	}
	of, ok := strings.CutSuffix(m.kind, "List")
	if ok && fields["items"] != nil {
		for _, item := range resolved(fields["items"]).Content {
			readObject(file, item, m.apiVersion, of, look)
		}
		return
	}
	metadata := mapping(fields["metadata"])
	m.name, m.namespace = text(metadata["name"]), text(metadata["namespace"])
	if m.name == "" {
		m.name = text(metadata["generateName"])
	}
	m.collect(node, "", map[*yaml.Node]int{})
	for _, e := range m.entries {
		look(m, e)
	}
}

// collect finds the annotations and labels of an object and of the templates in it. at has
// the index in entries of each value.
func (m *manifest) collect(node *yaml.Node, path string, at map[*yaml.Node]int) {
	node = resolved(node)
	if node == nil {
		return
	}
	if node.Kind == yaml.SequenceNode {
		for _, item := range node.Content {
			m.collect(item, path+"[]", at)
		}
		return
	}
	fields := mapping(node)
	for key, child := range fields {
		m.collect(child, strings.TrimPrefix(path+"."+key, "."), at)
	}
	metadata := mapping(fields["metadata"])
	for _, kind := range []string{"annotations", "labels"} {
		for key, value := range mapping(metadata[kind]) {
			m.add(entry{key: key, at: value, isLabel: kind == "labels", ofPod: m.isPod(fields, path)}, at)
		}
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

// isPod reports whether a part of the object is a pod or a pod template. In a custom
// resource, that is whatever has containers, or is called a template, as in Argo's
// workflows and KubeVirt's machines.
func (m *manifest) isPod(fields map[string]*yaml.Node, path string) bool {
	if known, ok := templates[m.kind]; ok {
		return path == known
	}
	_, has := mapping(fields["spec"])["containers"]
	last := strings.ToLower(path[strings.LastIndexByte(path, '.')+1:])
	return has || m.isCustom() && (strings.HasSuffix(last, "template") || last == "templates[]")
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
