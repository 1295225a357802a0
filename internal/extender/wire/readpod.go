package wire

import "bytes"

// readPod reads what algorithm.Pod has.
func (r *reader) readPod() error {
	if r.Null() {
		return nil
	}
	start := r.Pos()
	var metadata once
	err := r.Object(func(key []byte) error {
		if bytes.EqualFold(key, []byte("metadata")) {
			return metadata.in("metadata", r.podMetadata)
		}
		return r.Skip()
	})
	r.pod = span{start, r.Pos()}
	return err
}

func (r *reader) podMetadata() error {
	if r.Null() {
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
		{name: "uid", read: r.textInto(&pod.UID)},
		{name: "resourceVersion", read: r.textInto(&pod.ResourceVersion)},
		{name: "annotations", read: r.annotations},
	}
	return r.Object(func(key []byte) error {
		for i := range members {
			if m := &members[i]; bytes.EqualFold(key, []byte(m.name)) {
				return m.in(m.name, m.read)
			}
		}
		return r.Skip()
	})
}

func (r *reader) annotations() error {
	if r.Null() {
		return nil
	}
	annotations := make(map[string]string)
	r.request.Pod.Annotations = annotations
	return r.Object(func(key []byte) error {
		k := string(key)
		v, _, err := r.text()
		if err != nil {
			return at(k, err)
		}
		annotations[k] = string(v)
		return nil
	})
}
