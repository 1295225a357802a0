package snapshot

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"math"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// Read reads what an export, "simulator snapshot", kube-scheduler-simulator or kubectl has
// written: documents of YAML or of JSON, compressed by gzip or not. The notices say what of
// it is skipped, and why. Its errors speak of the file, and not of Go; then nothing of it is
// of use.
func Read(r io.Reader) (*Snapshot, []Notice, error) {
	return newReading(unbounded).read([]File{{Reader: r}})
}

// ReadSent is Read for what any client of a simulator may send: it is bounded. Its
// error may be a [TooLarge].
func ReadSent(r io.Reader) (*Snapshot, []Notice, error) {
	return newReading(bounds{MaxSent, 4 << 20, toBeSent, toBeSent}).read([]File{{Reader: r}})
}

// DefaultMaxSize is how many bytes of a file are enough for what kubectl writes of some
// 150,000 pods.
const DefaultMaxSize = 1 << 30

// ReadWithin is Read for files of one cluster that have at most so many bytes, uncompressed,
// and until ctx is done. Its error may be a [TooLarge], or that of ctx; then a file is still in use.
func ReadWithin(ctx context.Context, maxSize int64, files ...File) (*Snapshot, []Notice, error) {
	in := newReading(bounds{min(maxSize, math.MaxInt64-1), MaxSent, "to be read: --max-size allows more", "to be read: write it as JSON"})
	done := make(chan func() (*Snapshot, []Notice, error), 1)
	go func() { // since what parses YAML cannot be interrupted
		s, notices, err := in.read(files)
		if err == nil {
			s.Source = ptr.To(ptr.Deref(s.Source, Source{}))
			s.Source.Digest = fmt.Sprintf("%x", in.digest.Sum(nil))
		}
		done <- func() (*Snapshot, []Notice, error) { return s, notices, err }
	}()
	select {
	case result := <-done:
		return result()
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

// AddManifest adds an object in JSON. It returns false if it leaves that out, since
// scheduling does not depend on its kind. A field that is not known is an error.
func (s *Snapshot) AddManifest(raw []byte) (bool, error) {
	in := newReading(unbounded)
	in.Snapshot = *s
	err := in.document("", raw)
	for field, objects := range in.unknown {
		err = cmp.Or(err, fmt.Errorf("%s %s: there is no field %s", field[0], objects[0], field[1]))
	}
	*s = in.Snapshot
	return len(in.notices) == 0 && len(in.skipped)+len(in.otherKinds) == 0, err
}

// Manifests calls a function with each object of a file, which may be compressed or an archive, and names links and the like of an
// archive. Lists are taken apart.
func Manifests(r io.Reader, do func(*unstructured.Unstructured) error) (unopened []string, err error) {
	in := newReading(bounds{DefaultMaxSize, MaxSent, "of manifests", "of manifests: write them as documents"})
	in.manifest = do
	err = in.file("", r, 0)
	return in.unopened, err
}

// MaxSent is how many bytes ReadSent reads, uncompressed: some 20,000 pods as kubectl
// writes them, and twice as many of a snapshot.
const MaxSent = 64 << 20

const toBeSent = "to be sent: start a simulator with the file, by --from"

// bounds keep what it takes to read a file within some 1 GB, and within some multiple of its size.
type bounds struct {
	bytes                 int64
	inOnePiece            int    // bytes of a YAML document
	advice, adviceOnPiece string // what to do with what is larger
}

var unbounded = bounds{bytes: math.MaxInt64 - 1, inOnePiece: math.MaxInt}

// A file may have so many elements of lists, or more if there are so many bytes to each. An element takes up to 500 bytes of
// memory, though it may have three in the file; pods as kubectl writes them have 128 bytes to each.
const (
	fewElements     = 1 << 20
	bytesPerElement = MaxSent / fewElements
)

// TooLarge is the error for what is over the bounds of ReadSent and ReadWithin.
type TooLarge struct{ error }

func tooLarge(most, advice string) error {
	return TooLarge{fmt.Errorf("more than %s is too much %s", most, advice)}
}

func inBytes(size int64) string {
	return resource.NewQuantity(size, resource.BinarySI).String()
}

type reading struct {
	Snapshot
	most       bounds
	left       int64 // bytes that may still be read
	size       int64 // bytes of the documents that have been read
	elements   int   // of lists, in these
	digest     hash.Hash
	documents  int
	recognized int              // objects, fields of exports, and lists without items
	refused    bool             // a part of it is a server's refusal, or a table: what it stands for is missing
	listed     map[string]bool  // kinds with a list of their own, or a field of an export, which may be empty
	list       listing          // what is in the current document
	everywhere sets.Set[string] // kinds in a document with objects of several namespaces: it was asked for those of all
	at         map[string]int   // where in the list of its kind an object is, by kind and name
	notices    []Notice
	warnings   int     // of kubectl, in the files
	repeated   grouped // kind and reason
	skipped    grouped // kind and reason
	otherKinds map[string]int
	unknown    grouped // kind and path of the field

	manifest func(*unstructured.Unstructured) error // gets the objects instead of Snapshot, unless it is nil

	otherCluster           string   // two UIDs of namespace kube-system; may be empty
	foreignFiles, unopened []string // without objects, and links, devices and what is not text
}

// listing is what is in a document of objects that have a namespace.
type listing struct{ kinds, namespaces sets.Set[string] }

func newListing() listing { return listing{sets.Set[string]{}, sets.Set[string]{}} }

func newReading(most bounds) *reading {
	return &reading{
		list: newListing(), everywhere: sets.Set[string]{},
		most: most, digest: sha256.New(), left: most.bytes, at: map[string]int{}, listed: map[string]bool{},
		repeated: grouped{}, skipped: grouped{}, otherKinds: map[string]int{}, unknown: grouped{},
	}
}

func (in *reading) read(files []File) (*Snapshot, []Notice, error) {
	for _, file := range files {
		var err error
		switch {
		case file.Folder != nil:
			err = in.folder(file.Folder, 0)
		case file.Name != "":
			err = in.part(file.Name, func() (io.ReadCloser, error) { return io.NopCloser(file), nil }, 0)
		default:
			err = in.file("", file, 0)
		}
		large := (TooLarge{})
		if errors.As(err, &large) {
			return nil, nil, large
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if err := in.isCluster(); err != nil {
		return nil, nil, err
	}
	if string(in.SchedulerConfig) == "null" {
		in.SchedulerConfig = nil
	}
	if in.Source != nil {
		in.notices = append(in.notices, in.Source.Notes...)
		if in.Source.Digests == nil && !in.Source.Anonymized && !in.Source.Taken.IsZero() {
			in.notices = append(in.notices, Notice{"the snapshot", "an older version wrote it, without variables, commands, conditions and the like: " +
				"a manifest that has them counts as changed, and a node that is down as ready without its taints; save it again"})
		}
	}
	in.distinguish()
	lacks := in.lacks()
	if len(lacks) > 0 {
		in.Source = ptr.To(ptr.Deref(in.Source, Source{}))
		in.Source.Lacks = lacks
	}
	whole := in.isWhole()
	unlisted := in.unlisted(whole)
	if len(unlisted) > 0 {
		in.Source = ptr.To(ptr.Deref(in.Source, Source{}))
		in.Source.Unlisted = unlisted
	}
	within := in.within(whole)
	if len(within) > 0 {
		in.Source = ptr.To(ptr.Deref(in.Source, Source{}))
		in.Source.Within = within
	}
	if len(in.otherKinds) > 0 {
		in.notices = append(in.notices, Notice{report.Counted(in.otherKinds), "skipped: scheduling does not depend on these kinds"})
	}
	const noSuchField = ": skipped: the Kubernetes of this simulator has no such field"
	if in.otherCluster != "" {
		return nil, nil, fmt.Errorf("it has objects of two clusters: namespace kube-system has the UIDs %s; read the files of one", in.otherCluster)
	}
	if in.warnings > mostWarnings {
		in.notices = append(in.notices, Notice{"parts of the file", fmt.Sprintf("skipped: %d more warnings of kubectl", in.warnings-mostWarnings)})
	}
	in.notices = slices.Concat(in.notices, in.repeated.notices(""), in.skipped.notices(""), in.unknown.notices(noSuchField), in.noticesOfMissing(), in.OneByOne())
	return &in.Snapshot, in.notices, nil
}

// distinguish gives pods with the UID of another one, as somebody makes them who copies a part of a file, one of their own: kube-scheduler
// knows pods by it, and ends its process where two nodes have the same.
func (in *reading) distinguish() {
	of := map[types.UID]string{}
	for i := range in.Pods {
		pod := &in.Pods[i]
		first, taken := of[pod.UID]
		if pod.UID == "" || !taken {
			of[pod.UID] = qualified(pod)
			continue
		}
		in.notices = append(in.notices, Notice{"pod " + qualified(pod), "it has the UID of pod " + first + ", and gets one of its own"})
		pod.UID = types.UID(fmt.Sprintf("%s of %s", pod.UID, qualified(pod)))
	}
}

// unlisted are the kinds without objects which the files were perhaps not asked for: no list of theirs is there, and the other objects do
// not show that all kinds were listed.
func (in *reading) unlisted(whole bool) (kinds []string) {
	if in.Source != nil && !in.Source.Taken.IsZero() {
		return in.Source.Unlisted // which "simulator snapshot" has noted
	}
	devices := len(in.DeviceClasses) > 0 && len(in.ResourceSlices) > 0
	for _, kind := range Kinds {
		complete := whole
		if kind.Resource.Group == resourcev1.GroupName {
			complete = whole && devices
		}
		if (!complete && !in.listed[kind.Kind] || in.hasSkipped(kind)) && kind.of(&in.Snapshot).Len() == 0 {
			kinds = append(kinds, kind.Kind)
		}
	}
	return kinds
}

// within are the kinds whose objects are all of one namespace, where nothing shows that all namespaces were listed: no document has objects
// of several.
func (in *reading) within(whole bool) map[string]string {
	if whole || in.Source != nil && !in.Source.Taken.IsZero() {
		return nil
	}
	all := map[string]string{}
	for _, kind := range Kinds {
		if !kind.Namespaced() || in.everywhere.Has(kind.Kind) || in.listed[kind.Kind] {
			continue
		}
		namespaces := sets.Set[string]{}
		for o := range kind.All(&in.Snapshot) {
			namespaces.Insert(o.GetNamespace())
		}
		if namespaces.Len() == 1 {
			all[kind.Kind] = sets.List(namespaces)[0]
		}
	}
	return all
}

// isWhole says whether the files show that all kinds were listed, of all namespaces.
func (in *reading) isWhole() bool {
	return in.hasWhatAllHave() && !in.refused && !in.namesWhatIsMissing()
}

// hasWhatAllHave says whether there is what every cluster has by itself of four parts of KubectlGet: system namespaces, system priority
// classes, the service of the API server, which is in "all", and what kubelets and DaemonSets make.
func (in *reading) hasWhatAllHave() bool {
	return slices.ContainsFunc(in.Namespaces, func(n v1.Namespace) bool { return n.Name == metav1.NamespaceSystem }) &&
		slices.ContainsFunc(in.PriorityClasses, func(c schedulingv1.PriorityClass) bool { return isSystemPriority(c.Name) }) &&
		slices.ContainsFunc(in.Services, func(s v1.Service) bool { return qualified(&s) == metav1.NamespaceDefault+"/kubernetes" }) &&
		len(in.CSINodes)+len(in.ControllerRevisions) > 0
}

// hasSkipped says whether there are objects of the kind, of a version that is not read.
func (in *reading) hasSkipped(kind Kind) bool {
	for at := range in.skipped {
		if at[0] == kind.Title {
			return true
		}
	}
	return false
}

// namesWhatIsMissing says whether an object names another that a cluster would have, and the files do not: they are about a part of a cluster.
func (in *reading) namesWhatIsMissing() bool {
	there := sets.Set[string]{}
	key := func(kind, namespace, name string) string { return kind + " " + namespace + "/" + name }
	owners := sets.Set[string]{}
	for _, kind := range Kinds {
		for o := range kind.All(&in.Snapshot) {
			there.Insert(key(kind.Kind, o.GetNamespace(), o.GetName()))
		}
		if kind.Resource.Group == appsv1.GroupName || kind.Resource.Group == batchv1.GroupName {
			owners.Insert(kind.Kind)
		}
	}
	for _, kind := range Kinds {
		for o := range kind.All(&in.Snapshot) {
			of := metav1.GetControllerOf(o)
			if of != nil && owners.Has(of.Kind) && o.GetDeletionTimestamp() == nil && !there.Has(key(of.Kind, o.GetNamespace(), of.Name)) {
				return true
			}
		}
	}
	for i := range in.Pods {
		pod := &in.Pods[i]
		for _, claim := range ClaimsOf(pod) {
			if pod.Status.Phase == v1.PodRunning && !there.Has(key("PersistentVolumeClaim", pod.Namespace, claim)) {
				return true
			}
		}
	}
	for i := range in.PVCs {
		claim := &in.PVCs[i]
		if claim.Status.Phase == v1.ClaimBound && !there.Has(key("PersistentVolume", "", claim.Spec.VolumeName)) {
			return true
		}
	}
	for i := range in.PVs {
		volume := &in.PVs[i]
		of := volume.Spec.ClaimRef
		if volume.Status.Phase == v1.VolumeBound && of != nil && !there.Has(key("PersistentVolumeClaim", of.Namespace, of.Name)) {
			return true
		}
	}
	return false
}

// lacks says what was not read, for the last line of a report.
func (in *reading) lacks() (all []string) {
	few := func(paths []string) string {
		ends := make([]string, len(paths))
		for i, name := range paths {
			ends[i] = path.Join(path.Base(path.Dir(name)), path.Base(name))
		}
		return report.Few(ends)
	}
	if len(in.foreignFiles) > 0 {
		all = append(all, fmt.Sprintf("%s without objects of a cluster: %s", report.Plural(len(in.foreignFiles), "file"), few(in.foreignFiles)))
	}
	if len(in.unopened) > 0 {
		all = append(all, fmt.Sprintf("%s not opened, since links or not text: %s", report.Plural(len(in.unopened), "file"), few(in.unopened)))
	}
	before := len(all)
	for at, objects := range in.skipped { // for its version, or for this Kubernetes
		all = append(all, fmt.Sprintf("%s %s", report.Plural(len(objects), at[0]), at[1]))
	}
	slices.Sort(all[before:])
	others := 0
	for _, n := range in.otherKinds {
		others += n
	}
	if others > 0 {
		all = append(all, report.Plural(others, "object")+" of other kinds skipped")
	}
	nodes, unplaced := map[string]bool{"": true}, []string{}
	for i := range in.Nodes {
		nodes[in.Nodes[i].Name] = true
	}
	for i := range in.Pods {
		pod := &in.Pods[i]
		if !nodes[pod.Spec.NodeName] && len(in.Nodes) > 0 {
			unplaced = append(unplaced, qualified(pod)+" on "+pod.Spec.NodeName)
		}
	}
	if len(unplaced) > 0 {
		all = append(all, fmt.Sprintf("%s on nodes that are not in it: %s", report.Plural(len(unplaced), "pod"), report.Few(unplaced)))
	}
	if len(in.Pods) == 0 {
		all = append(all, "no pods in it")
	}
	return all
}

// isCluster rejects what has no object of a cluster, and what was cut in two. YAML that ends early is YAML.
func (in *reading) isCluster() error {
	has, says := in.Objects(), in.Source
	skipped := slices.Concat(in.foreignFiles, in.unopened)
	switch {
	case says != nil && has < says.Objects:
		return fmt.Errorf("the file is cut off: it says that it has %d objects, and has %d; if you took some out, correct source.objects", says.Objects, has)
	case in.recognized > 0:
		return nil
	case len(in.otherKinds) > 0:
		return fmt.Errorf("it has no object that scheduling depends on, such as a node or a pod, but only %s", report.Counted(in.otherKinds))
	case len(skipped) > 0:
		return fmt.Errorf("none of its files has objects of a cluster: %s", report.Few(skipped))
	}
	return errors.New("it is empty")
}

// json reads JSON values, one after the other.
func (in *reading) json(file string, text io.Reader) error {
	values := jsontext.NewDecoder(text, jsontext.AllowInvalidUTF8(true))
	for {
		value, err := values.ReadValue()
		var wrong *jsontext.SyntacticError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &wrong):
			return syntaxError{fmt.Errorf("the key %s is repeated", wrong.JSONPointer)}
		case errors.As(err, &wrong) && !errors.Is(err, io.ErrUnexpectedEOF):
			return syntaxError{fmt.Errorf("not JSON: %s", strings.TrimPrefix(err.Error(), "jsontext: "))}
		case err != nil:
			return err
		}
		if err := in.document(file, value); err != nil {
			return err
		}
	}
}

// yaml reads documents of YAML. No parser streams within one, and to convert it takes some
// forty times as much memory.
func (in *reading) yaml(file string, text *bufio.Reader) error {
	documents := utilyaml.NewYAMLReader(text)
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(document) > in.most.inOnePiece {
			return tooLarge(inBytes(int64(in.most.inOnePiece))+" of YAML in one piece", in.most.adviceOnPiece)
		}
		value, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			message := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:", "")
			return syntaxError{fmt.Errorf("not YAML: document %d: %s", n, strings.Join(strings.Fields(message), " "))}
		}
		if string(value) == "null" {
			continue
		}
		if err := in.document(file, value); err != nil {
			return err
		}
	}
}

// header is what manifests and lists have, and exports have not.
type header struct {
	metav1.PartialObjectMetadata
	Items json.RawMessage `json:"items"`
}

// read reads the header of a value. Of an object of a kind that is read, which begins with its kind, it has the kind and the version alone.
func (h *header) read(raw []byte) error {
	tokens := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, _ = tokens.ReadToken() // what is no object has no fields
	fields := map[string]*string{"apiVersion": &h.APIVersion, "kind": &h.Kind}
	for range len(fields) {
		name, _ := tokens.ReadToken() // of a value that has been read once
		field := fields[name.String()]
		if field == nil || tokens.PeekKind() != '"' {
			break
		}
		value, _ := tokens.ReadToken()
		*field = value.String()
	}
	if h.APIVersion != "" && slices.ContainsFunc(Kinds, func(k Kind) bool { return k.Kind == h.Kind }) {
		return nil
	}
	*h = header{}
	return unmarshal(raw, h)
}

func (in *reading) document(file string, raw []byte) error {
	in.documents++
	in.size += int64(len(raw))
	in.elements += elements(raw)
	_, _ = in.digest.Write(raw)
	most := max(fewElements, in.size/bytesPerElement)
	if int64(in.elements) > most {
		return tooLarge(fmt.Sprint(most, " elements in lists"), fmt.Sprintf("for a file of %d bytes", in.size))
	}
	in.list = newListing()
	err := in.value(file, raw, header{}, 0)
	if in.list.namespaces.Len() > 1 {
		in.everywhere = in.everywhere.Union(in.list.kinds)
	}
	return err
}

// maxNested is how deep lists may be in lists, and archives in archives: each list is parsed once more for each one around it.
const maxNested = 8

// value reads an object, a list, or an export. The items of a list may not say of which kind they are: then the list does, or
// the path of the file, or their fields.
func (in *reading) value(file string, raw []byte, list header, depth int) error {
	if depth > maxNested {
		return fmt.Errorf("lists are nested more than %d deep", maxNested)
	}
	var is header
	items := func(name string, raw []byte) error {
		return each(name, raw, func(item []byte) error { return in.value(file, item, is, depth+1) })
	}
	if raw[0] == '[' {
		return items("", raw)
	}
	if raw[0] != '{' && depth == 0 {
		return noObjects{errors.New("it has text, and no objects: kubectl get writes these with -o yaml or -o json")}
	}
	err := is.read(raw)
	if is.Kind == "" && depth > 0 {
		is.APIVersion = list.APIVersion
		is.Kind = strings.TrimSuffix(list.Kind, "List")
	}
	switch {
	case err != nil && is.Kind == "":
		return noObjects{err}
	case err != nil:
		return err
	case is.Items != nil && is.Kind == "" && is.APIVersion != "":
		return errors.New("the kind is missing, with which a list of kubectl ends: the file is cut off")
	case is.Items != nil && (is.Kind == "" || strings.HasSuffix(is.Kind, "List")):
		if err := isWhole(raw); err != nil {
			return err
		}
		if is.Kind != "" && isEmptyList(is.Items) {
			in.recognized++
			for _, kind := range Kinds {
				if is.Kind == kind.Kind+"List" && is.GroupVersionKind().Group == kind.Resource.Group {
					in.listed[kind.Kind] = true
				}
			}
		}
		return items("items", is.Items)
	case is.Kind == "" && in.manifest != nil:
		return noObjects{errors.New("the kind is missing")}
	case is.Kind == "" && depth == 0 && is.Name == "":
		return in.export(file, raw)
	case is.Kind == "":
		kind, ok := kindOfKindless(file, raw, is)
		if !ok {
			return noObjects{errors.New("it has no kind, and not the fields of any kind that scheduling depends on")}
		}
		return in.add(kind, raw)
	}
	if in.manifest != nil {
		one := &unstructured.Unstructured{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &one.Object); err != nil {
			return err
		}
		one.SetGroupVersionKind(is.GroupVersionKind()) // which may be that of the list
		in.recognized++
		return in.manifest(one)
	}
	return in.object(raw, is)
}

// isWhole refuses a page of a list that goes on.
func isWhole(raw []byte) error {
	var list struct{ Metadata metav1.ListMeta }
	if !bytes.Contains(raw, []byte(`"continue"`)) || unmarshal(raw, &list) != nil || list.Metadata.Continue == "" {
		return nil
	}
	rest := "more objects"
	if n := list.Metadata.RemainingItemCount; n != nil {
		rest = report.Plural(int(*n), "more object")
	}
	return fmt.Errorf("it is the first page of a list with %s: ask for all of it, without a limit", rest)
}

// isEmptyList says whether the items of a list are none. In Go, a list without any may be written as null.
func isEmptyList(items []byte) bool {
	return string(items) == "null" || len(bytes.Trim(items, "[] \t\r\n")) == 0
}

// kindOfKindless is the kind of an object by the path of its file, as in cluster-resources/pods/default.json, or else the only
// one that has all its fields.
func kindOfKindless(file string, raw []byte, is header) (kind Kind, ok bool) {
	if is.Name == "" {
		return kind, false
	}
	for ; file != "." && file != "/" && file != ""; file = path.Dir(file) {
		name := strings.TrimSuffix(path.Base(file), path.Ext(file))
		name = strings.ReplaceAll(strings.ToLower(name), "-", "")
		for _, kind := range Kinds {
			if name == kind.Resource.Resource || name == strings.ToLower(kind.name) {
				return kind, true
			}
		}
	}
	fits := slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool {
		err := yamlcheck.Quantities(raw, reflect.TypeOf(k.Example()))
		if err != nil {
			return true
		}
		unknown, err := kjson.UnmarshalStrict(raw, k.Example(), kjson.DisallowUnknownFields)
		return err != nil || len(unknown) > 0
	})
	if len(fits) != 1 {
		return kind, false
	}
	return fits[0], true
}

// each calls a function with each value of a list. Errors begin with its name.
func each(name string, raw []byte, read func([]byte) error) error {
	values := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if values.PeekKind() != '[' { // null is a list, too
		if err := unmarshal(raw, &[]json.RawMessage{}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	_, _ = values.ReadToken() // which is there
	for i := 0; values.PeekKind() != ']'; i++ {
		one, err := values.ReadValue()
		if err == nil {
			err = read(one)
		}
		if err != nil {
			return fmt.Errorf("%s[%d]: %w", name, i, err)
		}
	}
	return nil
}

func (in *reading) object(raw []byte, is header) error {
	gvk := is.GroupVersionKind()
	title, reason := is.Kind, ""
	switch gvk.GroupKind() {
	case schema.GroupKind{Kind: "Status"}:
		var status metav1.Status
		if err := unmarshal(raw, &status); err != nil {
			return err
		}
		in.refused = true
		in.notices = append(in.notices, Notice{"a part of the file", "it has an API server's answer in place of objects: " + status.Message})
		return nil
	case schema.GroupKind{Group: metav1.GroupName, Kind: "Table"}:
		in.refused = true
		in.notices = append(in.notices, Notice{"a part of the file", "a Table has no objects: kubectl get writes these with -o yaml or -o json"})
		return nil
	}
	if gvk.GroupKind() == (schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PodGroup"}) {
		reason = minor.NoPodGroups
	}
	for _, kind := range Kinds {
		read := kind.Resource.GroupVersion()
		switch {
		case kind.Kind != gvk.Kind:
		case read == gvk.GroupVersion():
			return in.add(kind, raw)
		case read.Group == gvk.Group || gvk.Group == "extensions": // where many of them began
			title = kind.Title
			reason = fmt.Sprintf("it is of %s, and only %s is read: kubectl convert makes one of the other", is.APIVersion, read)
		}
	}
	if reason == "" {
		in.otherKinds[strings.TrimSpace(is.APIVersion+" "+is.Kind)]++
		return nil
	}
	in.recognized++
	if err := unmarshal(raw, &is); err != nil {
		return err
	}
	in.skipped.add(title, "skipped: "+reason, qualified(&is))
	return nil
}

// export reads a file of our own, or of kube-scheduler-simulator. One of several files is an export if it has nothing else.
func (in *reading) export(file string, raw []byte) error {
	var of map[string]json.RawMessage
	if err := unmarshal(raw, &of); err != nil {
		return noObjects{err}
	}
	var strange []Notice
	kind := func(name string) int { return slices.IndexFunc(Kinds, func(k Kind) bool { return k.name == name }) }
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if kind(name) < 0 && !slices.Contains([]string{"schedulerConfig", "source", "podGroups"}, name) {
			strange = append(strange, Notice{About: "field " + name, Reason: "skipped: an export has no such field"})
		}
	}
	if len(strange) > 0 && (file != "" || len(strange) == len(of)) {
		return noObjects{errors.New(`it has none of the fields of an export, such as "nodes" and "pods", and no kind either`)}
	}
	in.notices = append(in.notices, strange...)
	for _, name := range slices.Sorted(maps.Keys(of)) {
		var err error
		of, raw := kind(name), of[name]
		switch {
		case of >= 0:
			in.listed[Kinds[of].Kind] = in.listed[Kinds[of].Kind] || string(raw) != "null" // as of a list that could not be read
			err = each(name, raw, func(one []byte) error { return in.add(Kinds[of], one) })
		case name == "schedulerConfig":
			in.SchedulerConfig = raw
		case name == "source":
			err = unmarshal(raw, &in.Source)
			if err != nil {
				err = fmt.Errorf("source: %w", err)
			}
		case name == "podGroups":
			in.notices = append(in.notices, Notice{"field podGroups", "skipped: " + minor.NoPodGroups})
		}
		if err != nil {
			return err
		}
		in.recognized++
	}
	return nil
}
