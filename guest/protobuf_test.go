package guest

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const key = "example.com/node-regex"

func examples() map[string]*v1.Pod {
	return map[string]*v1.Pod{
		"an empty pod":      {},
		"a pod with a name": {ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{key: "a label"}}},
		"no such annotation": {ObjectMeta: metav1.ObjectMeta{
			Annotations: map[string]string{"example.com/node-regexp": "a", "": "b"},
		}},
		"an empty value":     {ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: ""}}},
		"one annotation":     {ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: "kubecon-.*"}}},
		"among others":       {ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": "b", key: `\d`, "z": "y"}}},
		"before a container": {ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: "é"}}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: key}}}},
	}
}

// annotation is entries for one key.
func annotation(pod []byte, key string) (value string, found bool, err error) {
	values, err := entries(pod, metaAnnotations, []string{"example.com/other", key})
	if values[1] == nil {
		return "", false, err
	}
	return *values[1], true, err
}

func TestAnnotationSaysSoIfThePodIsCutShort(t *testing.T) {
	wire, err := examples()["one annotation"].Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if _, found, err := annotation(wire[:len(wire)-1], key); err == nil {
		t.Errorf("found %v, and no error", found)
	}
}

// FuzzAnnotation feeds any bytes: never a panic, and the answer of a full
// decode. The generated decoder lets malformed groups pass, so on bytes that no
// encoder writes an error is an answer too.
func FuzzAnnotation(f *testing.F) {
	for _, pod := range examples() {
		wire, err := pod.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire)
	}
	// Twice the same key, twice the metadata: the last one counts.
	one, two := mapEntry(key, "one"), mapEntry(key, "two")
	f.Add(field(objectMetadata, append(field(metaAnnotations, one), field(metaAnnotations, two)...)))
	f.Add(append(field(objectMetadata, field(metaAnnotations, two)), field(objectMetadata, field(metaAnnotations, one))...))
	f.Add(field(objectMetadata, field(metaAnnotations, append(mapEntry(key, "one"), mapEntry("other", "two")...))))
	f.Fuzz(func(t *testing.T, wire []byte) {
		value, found, err := annotation(wire, key)
		var pod v1.Pod
		if pod.Unmarshal(wire) != nil {
			return
		}
		want, wanted := pod.Annotations[key]
		if err == nil && (value != want || found != wanted) {
			t.Errorf("got %q, %v; want %q, %v", value, found, want, wanted)
		}
		encoded, err := pod.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		value, found, err = annotation(encoded, key)
		if err != nil || value != want || found != wanted {
			t.Errorf("encoded again: got %q, %v, %v; want %q, %v", value, found, err, want, wanted)
		}
	})
}

// field is a length-delimited field of less than 128 bytes.
func field(number byte, value []byte) []byte {
	return append([]byte{number<<3 | 2, byte(len(value))}, value...)
}

func mapEntry(key, value string) []byte {
	return append(field(entryKey, []byte(key)), field(entryValue, []byte(value))...)
}
