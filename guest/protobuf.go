package guest

import (
	"encoding/binary"
	"errors"

	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
)

// errProtobuf means that the host's bytes are not an object.
var errProtobuf = errors.New("the host sent an object that is not valid protobuf")

// entries finds the values of keys in a map of an object's metadata. It skips other
// fields by their length. As in any protobuf, the last of several equal keys counts.
func entries(object []byte, field uint64, keys []string) (values []*string, err error) {
	values = make([]*string, len(keys))
	err = fields(object, objectMetadata, func(metadata []byte) error {
		return fields(metadata, field, func(entry []byte) error {
			k, v, err := keyValue(entry)
			for i, key := range keys {
				if err == nil && host.View(k) == key {
					value := host.View(v)
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
func fields(message []byte, number uint64, do func([]byte) error) error {
	return each(message, func(tag uint64, value []byte) error {
		if tag == number<<3|lengthDelimited {
			return do(value)
		}
		return nil
	})
}

// numbers calls do with each varint of that number.
func numbers(message []byte, number uint64, do func(uint64)) error {
	return each(message, func(tag uint64, value []byte) error {
		if tag == number<<3|varint {
			n, _ := binary.Uvarint(value)
			do(n)
		}
		return nil
	})
}

// each calls do with each field: its tag, and its value, which is encoded where it is a varint.
func each(message []byte, do func(tag uint64, value []byte) error) error {
	for len(message) > 0 {
		tag, size := binary.Uvarint(message)
		if size <= 0 || tag>>3 == 0 {
			return errProtobuf
		}
		value, rest, err := split(message[size:], tag&7)
		if err == nil {
			err = do(tag, value)
		}
		if err != nil {
			return err
		}
		message = rest
	}
	return nil
}

// The wire types, by https://protobuf.dev/programming-guides/encoding/#structure.
// Kubernetes has no others.
const (
	varint          = 0
	fixed64         = 1
	lengthDelimited = 2
	fixed32         = 5
)

// split separates a field's value from what follows it.
func split(message []byte, wireType uint64) (value, rest []byte, err error) {
	var size uint64
	switch wireType {
	case fixed64:
		size = 8
	case fixed32:
		size = 4
	case varint, lengthDelimited:
		number, n := binary.Uvarint(message)
		if n <= 0 {
			return nil, nil, errProtobuf
		}
		if wireType == varint {
			return message[:n], message[n:], nil
		}
		message = message[n:]
		size = number
	default:
		return nil, nil, errProtobuf
	}
	if size > uint64(len(message)) {
		return nil, nil, errProtobuf
	}
	return message[:size], message[size:], nil
}
