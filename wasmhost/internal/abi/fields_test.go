package abi

import (
	"strings"
	"testing"
)

func TestFieldsAreReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]Field{
		"pod.metadata.namespace":                 {OfPod, Namespace, ""},
		"pod.metadata.name":                      {OfPod, Name, ""},
		"pod.metadata.labels['app']":             {OfPod, Label, "app"},
		"pod.metadata.annotations['a.b/c-d']":    {OfPod, Annotation, "a.b/c-d"},
		"node.metadata.name":                     {OfNode, Name, ""},
		"node.metadata.labels['zone']":           {OfNode, Label, "zone"},
		"node.metadata.annotations['a.b/c[0]d']": {OfNode, Annotation, "a.b/c[0]d"},
	} {
		if got, err := parseField(text); err != nil || got != want || got.String() != text {
			t.Errorf("%s: got %+v, %q, %v", text, got, got, err)
		}
	}
}

func TestAFieldThatThereIsNotIsNamedWithThoseThatThereAre(t *testing.T) {
	for _, text := range []string{
		"", "pod", "pod.metadata", "pod.metadata.Name", "node.metadata.namespace", "pod.metadata.labels", "pod.metadata.labels['']",
		"pod.metadata.labels['a", `pod.metadata.labels["a"]`, "pod.metadata.labels[a]", "pod.metadata.labels['a'] ", "pod.metadata.labels['a''b']",
		"pod.metadata.name['a']", "pod.spec.nodeName", " node.metadata.name",
	} {
		_, err := parseField(text)
		if err == nil || !strings.HasPrefix(err.Error(), `there is no field "`) ||
			!strings.HasSuffix(err.Error(), "there are pod.metadata.namespace, pod.metadata.name, pod.metadata.labels['…'], pod.metadata.annotations['…'], "+
				"node.metadata.name, node.metadata.labels['…'], node.metadata.annotations['…']") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
