package abi

import (
	"errors"
	"fmt"
)

// A guest that tells nodes apart by their names alone may answer about many at once: a
// call takes longer than most verdicts. Such a guest exports both of these functions.
// They are our addition; the upstream host ignores them.
const (
	// exportNamesBuffer is a function () -> i64 that says where the host writes
	// names: the upper half is the address, the lower half the size in bytes.
	exportNamesBuffer = "names_buffer"
	// exportFilterNames is a function (i32) -> i32. The parameter is how many names
	// were written, each with its length in a byte before it. The guest puts what
	// filter would return for the first name into the first byte of the buffer, and
	// so on, and gives one reason for all that it rejects. Where another reason is
	// due, it puts Unanswered, to be asked again. It returns how many names it has
	// looked at, from the first one on.
	exportFilterNames = "filter_names"
)

// Unanswered stands in place of a code in what [Instance.FilterNames] returns. The guest
// has another reason for that node than the one that it gave.
const Unanswered = 0xff

// MaxName is the length of the longest name of an object, or of its UID, in bytes.
const MaxName = 253

// FilterNames asks the guest about nodes by their names: as many of so many as it has
// room for, which is at least one. None is longer than MaxName. The codes are valid
// until the next call; those that are not zero have the reasons. An error is a [Trap],
// as for Call.
func (i *Instance) FilterNames(most int, name func(int) string) (codes []byte, reasons []string, err error) {
	i.out = Out{}
	buffer, err := i.namesBuffer()
	if err != nil {
		return nil, nil, err
	}
	fit := write(buffer, most, name)
	result, err := i.run(exportFilterNames, i.filterNames, uint64(fit))
	if err != nil {
		return nil, nil, err
	}
	answered := uint32(result)
	if answered == 0 || answered > uint32(fit) {
		return nil, nil, i.trap(exportFilterNames, fmt.Errorf("it has answered about %d of %d names", answered, fit))
	}
	if buffer, err = i.namesBuffer(); err != nil { // the memory may have grown
		return nil, nil, err
	}
	return buffer[:answered], i.out.Reasons, nil
}

// namesBuffer is where names are written.
func (i *Instance) namesBuffer() ([]byte, error) {
	if i.names.size == 0 {
		where, err := i.run(exportNamesBuffer, i.module.ExportedFunction(exportNamesBuffer))
		if err != nil {
			return nil, err
		}
		i.names.at, i.names.size = uint32(where>>32), uint32(where)
		i.filterNames = i.module.ExportedFunction(exportFilterNames)
	}
	if i.names.size < 1+MaxName {
		return nil, i.trap(exportNamesBuffer, fmt.Errorf("it has room for %d bytes, but needs %d at least", i.names.size, 1+MaxName))
	}
	buffer, ok := i.memory.Read(i.names.at, i.names.size)
	if !ok {
		return nil, i.trap(exportNamesBuffer, errors.New("it is not in the guest's memory"))
	}
	return buffer, nil
}

// write writes names, and says how many have fit.
func write(buffer []byte, most int, name func(int) string) (fit int) {
	for ; fit < most; fit++ {
		name := name(fit)
		if len(name) >= len(buffer) {
			break
		}
		buffer[0] = byte(len(name))
		buffer = buffer[1+copy(buffer[1:], name):]
	}
	return fit
}
