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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
)

// Read reads what an export, "simulator snapshot", kube-scheduler-simulator or
// "kubectl get -o yaml" has written, in YAML or JSON, compressed by gzip or not. The
// notices say what of it is skipped, and why. Its errors speak of the file, and not of
// Go; then nothing of it is of use.
func Read(r io.Reader) (*Snapshot, []Notice, error) {
	return (&reading{most: unbounded}).read(r)
}

// ReadSent is Read for what whoever reaches a simulator may send: it is bounded. Its
// error may be a [TooLarge].
func ReadSent(r io.Reader) (*Snapshot, []Notice, error) {
	return (&reading{most: bounds{MaxSent, 4 << 20, 1 << 20, toBeSent, toBeSent}}).read(r)
}

// DefaultMaxSize is how many bytes of a file are enough for what kubectl writes of some
// 150,000 pods.
const DefaultMaxSize = 1 << 30

// ReadWithin is Read for what has at most so many bytes, uncompressed, and until ctx is
// done. Its error may be a [TooLarge], or that of ctx; then r may be in use for moments.
func ReadWithin(ctx context.Context, r io.Reader, maxSize int64) (*Snapshot, []Notice, error) {
	in := &reading{most: bounds{int(min(maxSize, math.MaxInt-1)), MaxSent, math.MaxInt, "to be read: --max-size allows more", "to be read: write it as JSON"}}
	done := make(chan func() (*Snapshot, []Notice, error), 1)
	go func() { // since what parses YAML cannot be interrupted
		s, notices, err := in.read(untilDone{ctx, r})
		done <- func() (*Snapshot, []Notice, error) { return s, notices, err }
	}()
	select {
	case result := <-done:
		return result()
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

// untilDone ends with its context.
type untilDone struct {
	context.Context
	io.Reader
}

func (r untilDone) Read(into []byte) (int, error) {
	if r.Err() != nil {
		return 0, context.Cause(r)
	}
	return r.Reader.Read(into)
}

// AddManifest adds an object in JSON. It returns false if it leaves that out, since
// scheduling does not depend on its kind. A field that is not known is an error.
func (s *Snapshot) AddManifest(raw []byte) (bool, error) {
	in := &reading{Snapshot: *s, most: unbounded, unknown: unknown{}}
	err := in.document(raw)
	for field, objects := range in.unknown {
		err = cmp.Or(err, fmt.Errorf("%s %s: there is no field %s", field[0], objects[0], field[1]))
	}
	*s = in.Snapshot
	return len(in.notices) == 0, err
}

// MaxSent is how many bytes ReadSent reads, uncompressed: some 20,000 pods as kubectl
// writes them, and twice as many of a snapshot.
const MaxSent = 64 << 20

const toBeSent = "to be sent: start a simulator with the file, by --from"

// bounds keep what it takes to read a file within some 1 GB. An element of a list takes
// up to 500 bytes, though it may have three in the file; of pods as kubectl writes them,
// 64 MB have half as many as are allowed.
type bounds struct {
	bytes, inOnePiece, elements int
	advice, adviceOnPiece       string // what to do with what is larger
}

var unbounded = bounds{bytes: math.MaxInt, inOnePiece: math.MaxInt, elements: math.MaxInt}

// TooLarge is the error for what is over the bounds of ReadSent and ReadWithin.
type TooLarge struct{ error }

func tooLarge(most, advice string) error {
	return TooLarge{fmt.Errorf("more than %s is too much %s", most, advice)}
}

// inBytes is a size in the unit that suits it.
func inBytes(size int) string {
	if size < 10<<20 && size%(1<<20) != 0 {
		return fmt.Sprint(size, " bytes")
	}
	return fmt.Sprint(size>>20, " MB")
}

type reading struct {
	Snapshot
	most    bounds
	notices []Notice
	unknown unknown
}

func (in *reading) read(r io.Reader) (*Snapshot, []Notice, error) {
	raw, err := in.all(r)
	if err != nil {
		return nil, nil, err
	}
	documents, err := in.documents(raw)
	if err != nil {
		return nil, nil, err
	}
	in.unknown = unknown{}
	for _, document := range documents {
		if err := in.document(document); err != nil {
			return nil, nil, err
		}
	}
	if err := in.isWhole(); err != nil {
		return nil, nil, err
	}
	if string(in.SchedulerConfig) == "null" {
		in.SchedulerConfig = nil
	}
	if in.Source != nil {
		in.notices = append(in.notices, in.Source.Notes...)
	}
	in.notices = slices.Concat(in.notices, in.unknown.notices(), in.noticesOfMissing(), in.OneByOne())
	return &in.Snapshot, in.notices, nil
}

// all reads a file, and what is in it if it is compressed.
func (in *reading) all(r io.Reader) ([]byte, error) {
	file := bufio.NewReader(r)
	r = file
	if magic, _ := file.Peek(2); string(magic) == "\x1f\x8b" {
		compressed, err := gzip.NewReader(file)
		if err != nil {
			return nil, fmt.Errorf("not gzip: %w", err)
		}
		r = compressed
	}
	raw, err := io.ReadAll(io.LimitReader(r, int64(in.most.bytes)))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("the file is cut off: %w", err)
	case err == nil && len(raw) == in.most.bytes:
		return nil, tooLarge(inBytes(in.most.bytes), in.most.advice)
	}
	return raw, err
}

// documents makes JSON of a file, of each of its documents.
func (in *reading) documents(raw []byte) ([][]byte, error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 {
		return nil, errors.New("it is empty")
	} else if trimmed[0] == '{' || trimmed[0] == '[' {
		return [][]byte{raw}, nil
	}
	var documents [][]byte
	for text := range bytes.SplitSeq(bytes.TrimPrefix(raw, []byte("---")), []byte("\n---")) {
		document, err := toJSON(text, in.most)
		if large := (TooLarge{}); errors.As(err, &large) {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
		if string(document) != "null" {
			documents = append(documents, document)
		}
	}
	return documents, nil
}

// header is what manifests and lists have, and exports have not.
type header struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metav1.ObjectMeta `json:"metadata"`
}

func (in *reading) document(raw []byte) error {
	if elements(raw) > in.most.elements {
		return tooLarge(fmt.Sprint(in.most.elements, " elements in lists"), in.most.advice)
	}
	var of map[string]json.RawMessage
	if err := json.Unmarshal(raw, &of); err != nil {
		return cmp.Or(unmarshal(raw, &in.Snapshot), err) // which says what is not JSON, or not an object
	}
	var is header
	if err := json.Unmarshal(raw, &is); err != nil {
		return err
	}
	items, isList := of["items"]
	switch {
	case is.Kind == "" && (isList || is.APIVersion != ""):
		return errors.New("the kind is missing, with which a list of kubectl ends: the file is cut off")
	case is.Kind == "":
		return in.export(of)
	case !isList:
		return in.object(raw, is)
	}
	var list []json.RawMessage
	if err := unmarshal(items, &list); err != nil {
		return fmt.Errorf("items: %w", err)
	}
	for i, item := range list {
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
	notice := Notice{
		About:  strings.TrimSpace(is.Kind + " " + qualified(&is.Metadata)),
		Reason: "skipped: " + is.APIVersion + " " + is.Kind + " is not a kind that scheduling depends on",
	}
	if gvk.GroupKind() == (schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PodGroup"}) {
		notice.Reason = "skipped: " + minor.NoPodGroups
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
			notice.About = kind.Title + " " + qualified(&is.Metadata)
			notice.Reason = fmt.Sprintf("skipped: it is of %s, and only %s is read: kubectl convert makes one of the other", is.APIVersion, read)
		}
	}
	in.notices = append(in.notices, notice)
	return nil
}

// export reads a file of our own, or of kube-scheduler-simulator.
func (in *reading) export(of map[string]json.RawMessage) error {
	strange := 0
	for _, name := range slices.Sorted(maps.Keys(of)) {
		var list []json.RawMessage
		var err error
		kind := slices.IndexFunc(Kinds, func(k Kind) bool { return nameOf(k.field) == name })
		switch {
		case name == "schedulerConfig":
			in.SchedulerConfig = of[name]
		case name == "source":
			err = unmarshal(of[name], &in.Source)
		case kind >= 0 && json.Unmarshal(of[name], &list) != nil:
			return unmarshal(fmt.Appendf(nil, "{%q:%s}", name, of[name]), &in.Snapshot) // says what stands in place of the list
		case kind >= 0: // below, one by one
		case name == "podGroups":
			in.notices = append(in.notices, Notice{"field podGroups", "skipped: " + minor.NoPodGroups})
		default:
			in.notices = append(in.notices, Notice{About: "field " + name, Reason: "skipped: an export has no such field"})
			strange++
		}
		if err != nil {
			return located(name, err)
		}
		for i, one := range list {
			if err := in.add(Kinds[kind], one); err != nil {
				return located(fmt.Sprintf("%s[%d]", name, i), err)
			}
		}
	}
	if len(of) > 0 && strange == len(of) {
		return errors.New(`it has none of the fields of an export, such as "nodes" and "pods", and no kind either`)
	}
	return nil
}
