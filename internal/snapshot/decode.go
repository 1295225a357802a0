package snapshot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
	kjson "sigs.k8s.io/json"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// anObject is as how many elements of lists an object of a snapshot counts: by memory.
const anObject = 4

// elements counts those of the lists in a document, at whatever depth, up to what is
// no JSON, and the document.
func elements(document []byte) (n int) {
	n = anObject
	if bytes.IndexByte(document, '[') < 0 {
		return n
	}
	tokens := jsontext.NewDecoder(bytes.NewBuffer(document), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		if tokens.PeekKind() == ']' {
			depth := tokens.StackDepth()
			_, length := tokens.StackIndex(depth)
			if depth == 2 { // of the document's own fields
				length *= anObject
			}
			n += int(length)
		}
		if _, err := tokens.ReadToken(); err != nil {
			return n
		}
	}
}

// add decodes an object, and notes what of it is not known. Errors name the object.
func (in *reading) add(kind Kind, raw []byte) error {
	one := kind.Example()
	var found []error
	err := yamlcheck.Quantities(raw, reflect.TypeOf(one)) // first, since these take minutes to decode
	if err == nil {
		found, err = kjson.UnmarshalStrict(raw, one, kjson.DisallowUnknownFields)
		if err != nil {
			err = cmp.Or(unmarshal(raw, one), err)
		}
	}
	if err != nil {
		var named struct {
			Metadata struct{ Namespace, Name string }
		}
		_ = json.Unmarshal(raw, &named) // what is wrong with it, the other decoder says
		name := cache.NewObjectName(named.Metadata.Namespace, named.Metadata.Name).String()
		return fmt.Errorf("%s: %w", strings.TrimSpace(kind.Title+" "+name), err)
	}
	pod, isPod := one.(*v1.Pod)
	switch {
	case one.GetName() == "" && one.GetGenerateName() == "":
		return fmt.Errorf("%s without metadata.name: perhaps the file is cut off", kind.Title)
	case isPod && len(pod.Spec.Containers) == 0 && len(found) == 0: // else they are misspelt, which is said of all such fields
		return fmt.Errorf("pod %s has no spec.containers: perhaps the file is cut off", qualified(pod))
	}
	if one.GetNamespace() == "" && kind.Namespaced() {
		one.SetNamespace(metav1.NamespaceDefault) // as kubectl does with a manifest
	}
	one.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as an API server lists them
	in.keep(kind, one)
	for _, err := range found {
		var field kjson.FieldError
		if errors.As(err, &field) {
			in.unknown.add(kind.Title, index.ReplaceAllString(field.FieldPath(), "[]"), qualified(one))
		}
	}
	return nil
}

// keep adds an object, or compares it with the one of that name that is there already: of two that are not equal, the newer one stays.
func (in *reading) keep(kind Kind, one Object) {
	in.recognized++
	if kind.Namespaced() {
		in.list.kinds.Insert(kind.Kind)
		in.list.namespaces.Insert(one.GetNamespace())
	}
	name := qualified(one)
	key := kind.Kind + " " + name
	at, again := in.at[key]
	if !again || one.GetName() == "" {
		in.at[key] = kind.of(&in.Snapshot).Len()
		kind.append(&in.Snapshot, one)
		return
	}
	there := kind.of(&in.Snapshot).Index(at)
	was := there.Addr().Interface().(Object)
	if key == "Namespace "+metav1.NamespaceSystem && was.GetUID() != "" && one.GetUID() != "" && was.GetUID() != one.GetUID() {
		in.otherCluster = fmt.Sprintf("%s and %s", was.GetUID(), one.GetUID())
	}
	if len(one.GetManagedFields()) == 0 { // kubectl get leaves them out, and kubectl cluster-info dump does not
		one.SetManagedFields(was.GetManagedFields())
	} else if len(was.GetManagedFields()) == 0 {
		was.SetManagedFields(one.GetManagedFields())
	}
	if equalObjects.DeepEqual(was, one) {
		return
	}
	newer := compareAge(one, was)
	reason := "it is there more than once, and not equal: the newer one is read"
	if newer == 0 {
		reason = "it is there more than once, and not equal, and none is newer: the last one is read"
	}
	if newer >= 0 {
		there.Set(reflect.ValueOf(one).Elem())
	}
	in.repeated.add(kind.Title, reason, name)
}

// equalObjects has JSON within an object equal as JSON is: files differ in its spaces, and in the order of its fields.
var equalObjects = equality.Semantic.Copy()

func init() {
	_ = equalObjects.AddFunc(func(a, b runtime.RawExtension) bool { // which is a function of two objects of one type
		var inA, inB any
		err := errors.Join(json.Unmarshal(a.Raw, &inA), json.Unmarshal(b.Raw, &inB))
		return err == nil && reflect.DeepEqual(inA, inB) || bytes.Equal(a.Raw, b.Raw)
	})
}

// compareAge is more than 0 if the first of two objects of one name is newer, and less if the second one is.
func compareAge(a, b Object) int {
	versions, _ := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion()) // 0 if one has none
	return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time), versions)
}

var index = regexp.MustCompile(`\[\d+\]`)

// unmarshal decodes JSON, and says of what does not fit where it is.
func unmarshal(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	if err == nil {
		return nil
	}
	problems := yamlcheck.Decode(raw, reflect.New(reflect.TypeOf(into).Elem()).Interface())
	problems = slices.DeleteFunc(problems, func(p yamlcheck.Problem) bool { return p.Unknown })
	if len(problems) > 0 {
		return problems[:1]
	}
	return err
}

// grouped are objects that one notice is about, by what it says of them: their kind, and
// what else they have in common.
type grouped map[[2]string][]string

func (g grouped) add(kind, common, object string) {
	at := [2]string{kind, common}
	n := len(g[at])
	if n == 0 || g[at][n-1] != object {
		g[at] = append(g[at], object)
	}
}

// Grouped are notices of which those about a kind with the same reason are one.
func Grouped(notices []Notice) []Notice {
	all := slices.Clone(notices)
	sortNotices(all)
	g := grouped{}
	for _, n := range all {
		at := strings.LastIndex(n.About, " ")
		g.add(n.About[:max(0, at)], Reason(n.Reason), n.About[at+1:])
	}
	return g.notices("")
}

func (g grouped) notices(more string) (all []Notice) {
	for at, objects := range g {
		about := strings.TrimSpace(at[0] + " " + objects[0])
		if len(objects) > 1 {
			about += fmt.Sprintf(" and %d more", len(objects)-1)
		}
		all = append(all, Notice{About: about, Reason: at[1] + more})
	}
	sortNotices(all)
	return all
}
