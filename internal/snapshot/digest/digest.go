// Package digest replaces what is private in a snapshot by keyed digests of it: the same text gets the same digest, and other text
// another one. So a controller, to which a change of a variable is a rollout, still sees each change, and none where there is none.
//
// The key is drawn for each snapshot and is in its file: a manifest that is compared with the file gets the same digests. So values
// that are easy to guess can be found by trying.
package digest

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Snapshot replaces what is private in a snapshot, and notes in its source with which key. annotations are the keys of
// annotations that stay, besides those by which Kubernetes itself decides and those of [regex.Default].
func Snapshot(s *snapshot.Snapshot, annotations []string) error {
	how := &snapshot.Digests{Key: make([]byte, sha256.Size), Annotations: append(regex.Default.Keys(), annotations...)}
	_, _ = rand.Read(how.Key) // it never fails
	s.Source.Digests = how
	for _, kind := range snapshot.Kinds {
		for o := range kind.All(s) {
			if err := Object(o, how); err != nil {
				return fmt.Errorf("%s %s: %w", kind.Title, o.GetName(), err)
			}
		}
	}
	return nil
}

// Object replaces what is private in an object that is compared with those of a snapshot, as it was replaced in these. With
// nil the object stays as it is.
func Object(o snapshot.Object, how *snapshot.Digests) error {
	if how == nil {
		return nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return err
	}
	of := reflect.TypeOf(o).Elem()
	d := digester{how, of}
	d.object(content, of, false)
	none := reflect.New(of)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, none.Interface()); err != nil {
		return err
	}
	reflect.ValueOf(o).Elem().Set(none.Elem())
	return nil
}

// digester replaces text in objects as they are in JSON.
type digester struct {
	*snapshot.Digests
	of reflect.Type // of the object
}

// stays are types in which nothing is replaced.
var stays = []reflect.Type{
	reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime](), reflect.TypeFor[metav1.Duration](),
	reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString](),
}

// value replaces the text in a value of a type, unless it is kept. Numbers, and text of a type of its own, which is a word of the API, stay.
func (d digester) value(v any, t reflect.Type, keep bool) any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if slices.Contains(stays, t) {
		return v
	}
	switch v := v.(type) {
	case string:
		if keep || t.Kind() == reflect.String && t != reflect.TypeFor[string]() {
			return v
		}
		return d.text(v)
	case []any:
		of := t
		if t.Kind() == reflect.Slice {
			of = t.Elem()
		}
		for i := range v {
			v[i] = d.value(v[i], of, keep)
		}
	case map[string]any:
		switch {
		case t == reflect.TypeFor[runtime.RawExtension]() && d.of == reflect.TypeFor[appsv1.ControllerRevision]():
			d.object(v, reflect.TypeFor[appsv1.StatefulSet](), keep) // of which it has the template, as that of a DaemonSet
		case t == reflect.TypeFor[runtime.RawExtension]():
			raw, _ := json.Marshal(v) // which was JSON
			return map[string]any{"digest": d.text(string(raw))}
		case t.Kind() == reflect.Struct:
			d.object(v, t, keep)
		case t == reflect.TypeFor[map[string]string]() && !keep: // parameters of drivers
			all := map[string]any{}
			for key := range v {
				all[d.text(key)] = d.value(v[key], t.Elem(), keep)
			}
			return all
		default: // of a map, or of a field that is not known here
			of := t
			if t.Kind() == reflect.Map {
				of = t.Elem()
			}
			for key := range v {
				v[key] = d.value(v[key], of, keep)
			}
		}
	}
	return v
}

// object replaces the text in the fields of a struct.
func (d digester) object(v map[string]any, t reflect.Type, keep bool) {
	known := fieldsIn(t)
	for name := range v {
		f, ok := known[name]
		if !ok {
			if !strings.HasPrefix(name, "$") { // as a patch has it
				v[name] = d.value(v[name], reflect.TypeFor[any](), keep)
			}
			continue
		}
		rule, ruled := rules[f.owner.Name()]
		switch {
		case name == "message" || slices.Contains(rule, "-"+name) && v[name] != v1.ClusterIPNone:
			delete(v, name)
		case name == "annotations" && f.owner == reflect.TypeFor[metav1.ObjectMeta]():
			all, _ := v[name].(map[string]any)
			v[name] = d.annotations(all)
		default:
			set, _ := v[name].(string)
			kept := name == "reason" || slices.Contains(rule, name+"="+set) || slices.Contains(rule, name) || slices.Contains(rule, "*") || !ruled && keep
			v[name] = d.value(v[name], f.of, kept)
		}
	}
}

// field is a field of a type, by its name in JSON. That of an embedded type is that type's.
type field struct{ owner, of reflect.Type }

// fieldsOf are the fields of types that were seen.
var fieldsOf sync.Map

func fieldsIn(t reflect.Type) map[string]field {
	known, ok := fieldsOf.Load(t)
	if ok {
		return known.(map[string]field)
	}
	all := map[string]field{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Type.Kind() == reflect.Struct {
			maps.Copy(all, fieldsIn(f.Type))
		} else {
			all[name] = field{t, f.Type}
		}
	}
	fieldsOf.Store(t, all)
	return all
}

// annotations replaces annotations that Kubernetes does not decide by. The keys of Kubernetes' own stay.
func (d digester) annotations(all map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range all {
		text, _ := value.(string)
		domain, _, _ := strings.Cut(key, "/")
		switch {
		case slices.Contains(d.Annotations, key), Decides(key):
			out[key] = text
		case key == v1.LastAppliedConfigAnnotation:
			out[key] = d.applied(text)
		case domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io"):
			out[key] = d.text(text)
		default:
			out[d.text(key)] = d.text(text)
		}
	}
	return out
}

// applied replaces text in the manifest that kubectl has applied.
func (d digester) applied(manifest string) string {
	var content map[string]any
	if err := json.Unmarshal([]byte(manifest), &content); err != nil {
		return d.text(manifest)
	}
	d.object(content, d.of, false)
	raw, _ := json.Marshal(content) // which was JSON
	return string(raw) + "\n"
}

// text is the digest of text. It is valid where that is: an address is one for documentation, a path is absolute, and else it
// is a word of a letter and digits.
func (d digester) text(text string) string {
	if text == "" {
		return text
	}
	mac := hmac.New(sha256.New, d.Key)
	_, _ = mac.Write([]byte(text)) // which never fails
	sum := mac.Sum(nil)
	if _, err := netip.ParseAddr(text); err == nil {
		return netip.AddrFrom16([16]byte(append([]byte{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0}, sum[:8]...))).String()
	}
	word := fmt.Sprintf("x%020d", binary.BigEndian.Uint64(sum))
	if strings.HasPrefix(text, "/") {
		word = "/" + word
	}
	return word
}
