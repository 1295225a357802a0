package abi

import (
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestFieldsAreReadAsTheDownwardAPIWritesThem(t *testing.T) {
	const declared = "pod.metadata.namespace\x00pod.metadata.name\x00pod.metadata.labels['app.kubernetes.io/name']\x00" +
		"pod.metadata.annotations['a']\x00node.metadata.name\x00node.metadata.labels['zone']\x00node.metadata.annotations['b']\x00" +
		"node.metadata.name\x00"
	fields, err := parseFields(declared)
	testkit.Must(t, err)
	want := []Field{{Kind: Namespace}, {Kind: Name}, {Kind: Label, Key: "app.kubernetes.io/name"}, {Kind: Annotation, Key: "a"}}
	testkit.Equal(t, withoutText(fields.Pod), want, "of the pod")
	want = []Field{{Kind: Name}, {Kind: Label, Key: "zone"}, {Kind: Annotation, Key: "b"}}
	testkit.Equal(t, withoutText(fields.Node), want, "of the node, each once")
	testkit.Equal(t, fields.Pod[2].String(), "pod.metadata.labels['app.kubernetes.io/name']", "written")
}

func withoutText(fields []Field) (without []Field) {
	for _, field := range fields {
		field.text = ""
		without = append(without, field)
	}
	return without
}

func TestGuestMayDecideByNothing(t *testing.T) {
	fields, err := parseFields("")
	if err != nil || len(fields.Pod)+len(fields.Node) != 0 {
		t.Errorf("%v, %v", fields, err)
	}
}

func TestUnknownFieldIsRefusedWithTheKnownOnes(t *testing.T) {
	for declared, want := range map[string]string{
		"pod.metadata.uid\x00":                                     `the field "pod.metadata.uid" does not exist: there are pod.metadata.namespace, `,
		"node.metadata.name\x00pod.metadata.Name\x00":              `the field "pod.metadata.Name" does not exist`,
		"pod.metadata.labels['']\x00":                              "does not exist",
		"pod.metadata.labels[\"k\"]\x00":                           "node.metadata.annotations['K']",
		"pod.metadata.labels['a']['b']\x00":                        "does not exist",
		"node.metadata.namespace\x00":                              "does not exist",
		"\x00":                                                     `the field "" does not exist`,
		"node.metadata.name":                                       `the last field, "node.metadata.name", does not end with a zero byte`,
		strings.Repeat("node.metadata.name\x00", 101):              "101 fields are declared, but at most 100 can be",
		"pod.spec." + strings.Repeat("x", 1000) + "\x00":           `xxx" does not exist`,
		"node.metadata.labels['" + strings.Repeat("x", 9) + "\x00": "does not exist",
	} {
		_, err := parseFields(declared)
		testkit.ErrorHas(t, err, want)
	}
}
