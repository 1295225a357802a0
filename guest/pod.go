package guest

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// Pod is the pod of the scheduling cycle. The guest reads it from the host only when a
// method is called.
type Pod struct{}

// Annotations returns the values of annotations, in the order of their keys. An
// annotation that the pod does not have is nil. The values are valid until the next pod
// is read.
func (Pod) Annotations(keys ...string) (values []*string, err error) {
	return annotations(currentPod(), keys)
}

// The fields on the way to an annotation, numbered in generated.proto of
// k8s.io/api/core/v1 and k8s.io/apimachinery/pkg/apis/meta/v1.
const (
	podMetadata     = 1
	metaAnnotations = 12
	entryKey        = 1
	entryValue      = 2
)

// errPod says that the host's bytes are no pod.
var errPod = errors.New("the host sent a pod that is not valid protobuf")

// annotations finds the values of keys in a v1.Pod, without decoding the rest:
// fields of no interest are skipped by their length. As in any protobuf, of
// equal keys the last one counts.
func annotations(pod []byte, keys []string) (values []*string, err error) {
	values = make([]*string, len(keys))
	err = fields(pod, podMetadata, func(metadata []byte) error {
		return fields(metadata, metaAnnotations, func(entry []byte) error {
			k, v, err := keyValue(entry)
			for i, key := range keys {
				if err == nil && view(k) == key {
					value := view(v)
					values[i] = &value
				}
			}
			return err
		})
	})
	return values, err
}

// keyValue splits an entry of a map.
func keyValue(entry []byte) (key, value []byte, err error) {
	err = fields(entry, entryKey, func(b []byte) error { key = b; return nil })
	if err == nil {
		err = fields(entry, entryValue, func(b []byte) error { value = b; return nil })
	}
	return key, value, err
}

// fields calls do with each length-delimited field of that number.
func fields(message []byte, number protowire.Number, do func([]byte) error) error {
	for len(message) > 0 {
		num, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errPod
		}
		message = message[n:]
		if num == number && typ == protowire.BytesType {
			value, n := protowire.ConsumeBytes(message)
			if n < 0 {
				return errPod
			}
			if err := do(value); err != nil {
				return err
			}
			message = message[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(num, typ, message); n < 0 {
			return errPod
		}
		message = message[n:]
	}
	return nil
}
