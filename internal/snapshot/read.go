package snapshot

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
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

// File is a part of what is read. Errors name it.
type File struct {
	Name string
	io.Reader
}

// ReadWithin is Read for files of one cluster that have at most so many bytes, uncompressed,
// and until ctx is done. Its error may be a [TooLarge], or that of ctx; then a file is still in use.
func ReadWithin(ctx context.Context, maxSize int64, files ...File) (*Snapshot, []Notice, error) {
	in := newReading(bounds{min(maxSize, math.MaxInt64-1), MaxSent, "to be read: --max-size allows more", "to be read: write it as JSON"})
	done := make(chan func() (*Snapshot, []Notice, error), 1)
	go func() { // since what parses YAML cannot be interrupted
		s, notices, err := in.read(files)
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
	err := in.document(raw)
	for field, objects := range in.unknown {
		err = cmp.Or(err, fmt.Errorf("%s %s: there is no field %s", field[0], objects[0], field[1]))
	}
	*s = in.Snapshot
	return len(in.notices) == 0 && len(in.skipped) == 0, err
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
	most      bounds
	left      int64 // bytes that may still be read
	size      int64 // bytes of the documents that have been read
	elements  int   // of lists, in these
	documents int
	notices   []Notice
	skipped   grouped // kind and reason
	unknown   grouped // kind and path of the field
}

func newReading(most bounds) *reading {
	return &reading{most: most, left: most.bytes, skipped: grouped{}, unknown: grouped{}}
}

func (in *reading) read(files []File) (*Snapshot, []Notice, error) {
	for _, file := range files {
		err := in.file(file.Reader)
		large := (TooLarge{})
		if errors.As(err, &large) {
			return nil, nil, large
		}
		if err != nil && file.Name != "" {
			err = fmt.Errorf("%s: %w", file.Name, err)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if in.documents == 0 {
		return nil, nil, errors.New("it is empty")
	}
	if err := in.isWhole(); err != nil {
		return nil, nil, err
	}
	if string(in.SchedulerConfig) == "null" {
		in.SchedulerConfig = nil
	}
	if in.Source != nil {
		in.notices = append(in.notices, in.Source.Notes...)
		if in.Source.Digests == nil && !in.Source.Taken.IsZero() {
			in.notices = append(in.notices, Notice{"the snapshot", "an older version wrote it, without variables, commands, conditions and the like: " +
				"a manifest that has them counts as changed, and a node that is down as ready without its taints; save it again"})
		}
	}
	const noSuchField = ": skipped: the Kubernetes of this simulator has no such field"
	in.notices = slices.Concat(in.notices, in.skipped.notices(""), in.unknown.notices(noSuchField), in.noticesOfMissing(), in.OneByOne())
	return &in.Snapshot, in.notices, nil
}

// file reads a file, or what is in it if it is compressed.
func (in *reading) file(r io.Reader) error {
	file := bufio.NewReader(r)
	r = file
	magic, _ := file.Peek(2)
	if string(magic) == "\x1f\x8b" {
		compressed, err := gzip.NewReader(file)
		if err != nil {
			return fmt.Errorf("not gzip: %w", err)
		}
		r = compressed
	}
	limited := &io.LimitedReader{R: r, N: in.left + 1}
	text := bufio.NewReader(limited)
	begin, _ := text.Peek(512)
	begin = bytes.TrimSpace(begin)
	read := in.yaml
	if len(begin) > 0 && (begin[0] == '{' || begin[0] == '[') {
		read = in.json
	}
	err := read(text)
	in.left = limited.N - 1
	if in.left < 0 {
		return tooLarge(inBytes(in.most.bytes), in.most.advice)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file is cut off: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// json reads JSON values, one after the other.
func (in *reading) json(text *bufio.Reader) error {
	values := jsontext.NewDecoder(text, jsontext.AllowInvalidUTF8(true))
	for {
		value, err := values.ReadValue()
		var wrong *jsontext.SyntacticError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &wrong):
			return fmt.Errorf("the key %s is repeated", wrong.JSONPointer)
		case errors.As(err, &wrong) && !errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("not JSON: %s", strings.TrimPrefix(err.Error(), "jsontext: "))
		case err != nil:
			return err
		}
		if err := in.document(value); err != nil {
			return err
		}
	}
}

// yaml reads documents of YAML. No parser streams within one, and to convert it takes some
// forty times as much memory.
func (in *reading) yaml(text *bufio.Reader) error {
	documents := utilyaml.NewYAMLReader(text)
	for {
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
			return fmt.Errorf("not YAML: %s", strings.Join(strings.Fields(message), " "))
		}
		if string(value) == "null" {
			continue
		}
		if err := in.document(value); err != nil {
			return err
		}
	}
}

// header is what manifests and lists have, and exports have not.
type header = metav1.PartialObjectMetadata

func (in *reading) document(raw []byte) error {
	in.documents++
	in.size += int64(len(raw))
	in.elements += elements(raw)
	most := max(fewElements, in.size/bytesPerElement)
	if int64(in.elements) > most {
		return tooLarge(fmt.Sprint(most, " elements in lists"), fmt.Sprintf("for a file of %d bytes", in.size))
	}
	var of map[string]json.RawMessage
	if err := json.Unmarshal(raw, &of); err != nil {
		return cmp.Or(unmarshal(raw, &in.Snapshot), err) // which says what is not JSON, or not an object
	}
	var is header
	if err := json.Unmarshal(raw, &is); err != nil {
		return err
	}
	switch {
	case is.Kind == "" && (of["items"] != nil || is.APIVersion != ""):
		return errors.New("the kind is missing, with which a list of kubectl ends: the file is cut off")
	case is.Kind == "":
		return in.export(of)
	}
	return in.manifest(raw, is, 0)
}

// maxNested is how deep lists may be in lists: each is parsed once more for each one around it.
const maxNested = 8

// manifest reads an object, or those of a list.
func (in *reading) manifest(raw []byte, is header, depth int) error {
	var list struct {
		Items json.RawMessage `json:"items"`
	}
	if !strings.HasSuffix(is.Kind, "List") || json.Unmarshal(raw, &list) != nil || list.Items == nil {
		return in.object(raw, is)
	}
	if depth > maxNested {
		return fmt.Errorf("lists are nested more than %d deep", maxNested)
	}
	return each("items", list.Items, func(item []byte) error {
		var one header
		if err := json.Unmarshal(item, &one); err != nil {
			return err
		}
		if one.Kind == "" { // those of a PodList and the like do not say what they are
			one.APIVersion = is.APIVersion
			one.Kind = strings.TrimSuffix(is.Kind, "List")
		}
		if one.Kind == "" {
			return errors.New("the kind is missing")
		}
		return in.manifest(item, one, depth+1)
	})
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
	gvk := schema.FromAPIVersionAndKind(is.APIVersion, is.Kind)
	title := is.Kind
	reason := "skipped: " + is.APIVersion + " " + is.Kind + " is not a kind that scheduling depends on"
	if gvk.GroupKind() == (schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PodGroup"}) {
		reason = "skipped: " + minor.NoPodGroups
	}
	for _, kind := range Kinds {
		read := kind.Resource.GroupVersion()
		switch {
		case kind.Kind != gvk.Kind:
		case read == gvk.GroupVersion():
			if err := in.add(kind, raw); err != nil {
				return fmt.Errorf("%s: %w", kind.Title, err)
			}
			return nil
		case read.Group == gvk.Group || gvk.Group == "extensions": // where many of them began
			title = kind.Title
			reason = fmt.Sprintf("skipped: it is of %s, and only %s is read: kubectl convert makes one of the other", is.APIVersion, read)
		}
	}
	in.skipped.add(title, reason, qualified(&is))
	return nil
}

// export reads a file of our own, or of kube-scheduler-simulator.
func (in *reading) export(of map[string]json.RawMessage) error {
	strange := 0
	for _, name := range slices.Sorted(maps.Keys(of)) {
		var err error
		kind := slices.IndexFunc(Kinds, func(k Kind) bool { return k.name == name })
		switch {
		case kind >= 0:
			err = each(name, of[name], func(one []byte) error { return in.add(Kinds[kind], one) })
		case name == "schedulerConfig":
			in.SchedulerConfig = of[name]
		case name == "source":
			if err := unmarshal(of[name], &in.Source); err != nil {
				return fmt.Errorf("source: %w", err)
			}
		case name == "podGroups":
			in.notices = append(in.notices, Notice{"field podGroups", "skipped: " + minor.NoPodGroups})
		default:
			in.notices = append(in.notices, Notice{About: "field " + name, Reason: "skipped: an export has no such field"})
			strange++
		}
		if err != nil {
			return err
		}
	}
	if len(of) > 0 && strange == len(of) {
		return errors.New(`it has none of the fields of an export, such as "nodes" and "pods", and no kind either`)
	}
	return nil
}
