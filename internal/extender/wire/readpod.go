package wire

import (
	"bytes"
	"errors"
	"fmt"
)

// readPod reads what algorithm.Pod has.
func (r *reader) readPod() error {
	if r.null() {
		return nil
	}
	start := r.pos()
	var metadata once
	err := r.object(func(key []byte) error {
		if bytes.EqualFold(key, []byte("metadata")) {
			return metadata.in("metadata", r.podMetadata)
		}
		return r.skip()
	})
	r.pod = span{start, r.end()}
	return err
}

func (r *reader) podMetadata() error {
	if r.null() {
		return nil
	}
	pod := &r.request.Pod
	members := []struct {
		name string
		read func() error
		once
	}{
		{name: "name", read: r.textInto(&pod.Name)},
		{name: "namespace", read: r.textInto(&pod.Namespace)},
		{name: "annotations", read: r.annotations},
	}
	return r.object(func(key []byte) error {
		for i := range members {
			if m := &members[i]; bytes.EqualFold(key, []byte(m.name)) {
				return m.in(m.name, m.read)
			}
		}
		return r.skip()
	})
}

// textInto reads a string into s.
func (r *reader) textInto(s *string) func() error {
	return func() error {
		text, _, err := r.text()
		*s = string(text)
		return err
	}
}

// annotations keeps them all. One that is given twice is refused like any
// other member that counts.
func (r *reader) annotations() error {
	if r.null() {
		return nil
	}
	annotations := make(map[string]string)
	r.request.Pod.Annotations = annotations
	return r.object(func(key []byte) error {
		if _, twice := annotations[string(key)]; twice {
			return &pathError{path: short(key), err: errors.New("is given twice")}
		}
		if err := r.owe(perAnnotation + perByte*int64(len(key))); err != nil {
			return err
		}
		k := string(key)
		var v string
		if err := r.textInto(&v)(); err != nil {
			return at(short(key), err)
		}
		annotations[k] = v
		return nil
	})
}

// short is a key as a message shows it.
func short(key []byte) string {
	if len(key) > 400 { // the longest that an annotation can have is shorter
		return fmt.Sprintf("%s…", key[:400])
	}
	return string(key)
}
