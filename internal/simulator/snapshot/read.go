package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// Read reads what an export, "simulator snapshot", kube-scheduler-simulator or
// "kubectl get -o yaml" has written, in YAML or JSON. The notices say what of it is
// left out, and why. Its errors speak of the file, and not of Go; then nothing of it
// is of use.
func Read(r io.Reader) (*Snapshot, []Notice, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, err
	}
	documents, err := documentsOf(raw)
	if err != nil {
		return nil, nil, err
	}
	in := &reading{}
	for _, document := range documents {
		if err := in.document(document); err != nil {
			return nil, nil, err
		}
	}
	if err := in.isWhole(); err != nil {
		return nil, nil, err
	}
	config, left, err := withoutWhatIsGone(in.SchedulerConfig)
	if err != nil {
		return nil, nil, err
	}
	in.SchedulerConfig = config
	if in.Source != nil {
		in.notices = append(in.notices, in.Source.Notes...)
	}
	in.notices = append(in.notices, in.noticesOfMissing()...)
	return &in.Snapshot, append(in.notices, left...), nil
}

// documentsOf makes JSON of a file, of each of its documents.
func documentsOf(raw []byte) ([][]byte, error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 {
		return nil, errors.New("it is empty")
	} else if trimmed[0] == '{' || trimmed[0] == '[' {
		return [][]byte{raw}, nil
	}
	var documents [][]byte
	for _, text := range bytes.Split(append([]byte("\n"), raw...), []byte("\n---")) {
		document, err := yaml.YAMLToJSON(text)
		if err != nil {
			return nil, fmt.Errorf("no YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
		if string(document) != "null" {
			documents = append(documents, document)
		}
	}
	return documents, nil
}

// reading is a snapshot that is being read.
type reading struct {
	Snapshot
	notices []Notice
}

// header is what tells manifests and lists from exports.
type header struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Metadata   metav1.ObjectMeta  `json:"metadata"`
	Items      *[]json.RawMessage `json:"items"`
}

func (in *reading) document(raw []byte) error {
	var is header
	if err := json.Unmarshal(raw, &is); err != nil {
		if plainly := unmarshal(raw, &in.Snapshot); plainly != nil {
			return plainly
		}
		return err
	}
	switch {
	case is.Kind == "" && (is.Items != nil || is.APIVersion != ""):
		return errors.New("the kind is missing, with which a list of kubectl ends: the file is cut off")
	case is.Kind == "":
		return in.export(raw)
	case is.Items == nil:
		return in.object(raw, is)
	}
	for i, item := range *is.Items {
		if err := in.item(item, is); err != nil {
			return fmt.Errorf("items[%d]: %w", i, err)
		}
	}
	return nil
}

// item reads one of a list. Those of a PodList and the like do not say what they are.
func (in *reading) item(raw []byte, of header) error {
	var is header
	if err := json.Unmarshal(raw, &is); err != nil {
		return err
	}
	if is.Kind == "" {
		is.APIVersion, is.Kind = of.APIVersion, strings.TrimSuffix(of.Kind, "List")
	}
	return in.object(raw, is)
}

func (in *reading) object(raw []byte, is header) error {
	gvk := schema.FromAPIVersionAndKind(is.APIVersion, is.Kind)
	for _, kind := range Kinds {
		if kind.Kind == gvk.Kind && kind.Resource.GroupVersion() == gvk.GroupVersion() {
			return kind.add(&in.Snapshot, raw)
		}
	}
	in.notices = append(in.notices, Notice{
		About:  strings.TrimSpace(is.Kind + " " + qualified(&is.Metadata)),
		Reason: "left out: " + is.APIVersion + " " + is.Kind + " is no kind that scheduling depends on",
	})
	return nil
}

// export reads a file of our own, or of kube-scheduler-simulator.
func (in *reading) export(raw []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	for field := range fields {
		if _, ok := snapshotFields[field]; ok {
			return unmarshal(raw, &in.Snapshot)
		}
	}
	if len(fields) > 0 {
		return errors.New(`it has none of the fields of an export, such as "nodes" and "pods", and no kind either`)
	}
	return nil
}

// snapshotFields are those of a Snapshot in a file.
var snapshotFields = func() map[string]bool {
	names := map[string]bool{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Snapshot]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names[name] = true
	}
	return names
}()

// unmarshal decodes JSON, and says of what does not fit where it is.
func unmarshal[T any](raw []byte, into *T) error {
	err := json.Unmarshal(raw, into)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(raw[:min(int(syntax.Offset), len(raw))], []byte("\n"))
		return fmt.Errorf("no JSON: line %d: %w", line, err)
	}
	if problems := yamlcheck.Parse(raw).Check(reflect.TypeFor[T]()); len(problems) > 0 {
		return problems[:1] // JSON is YAML
	}
	return err
}

// isWhole refuses what was cut in two. YAML that ends early is YAML.
func (in *reading) isWhole() error {
	if has, says := in.Objects(), in.Source; says != nil && has < says.Objects {
		return fmt.Errorf("the file is cut off: it says that it has %d objects, and has %d; if you took some out, correct source.objects", says.Objects, has)
	}
	for _, kind := range Kinds {
		var err error
		at := 0
		kind.Each(&in.Snapshot, func(o metav1.Object) {
			if err == nil && o.GetName() == "" && o.GetGenerateName() == "" {
				err = fmt.Errorf("%s %d has no metadata.name: perhaps the file is cut off", kind.Title, at+1)
			}
			at++
		})
		if err != nil {
			return err
		}
	}
	for i := range in.Pods {
		if pod := &in.Pods[i]; len(pod.Spec.Containers) == 0 {
			return fmt.Errorf("pod %s has no spec.containers: perhaps the file is cut off", qualified(pod))
		}
	}
	return nil
}
