package abi

import (
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// A guest that tells nodes apart by their names alone may answer about many at
// once: a call costs more than most verdicts. It exports both of these, which are
// our addition; the upstream host ignores them.
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

// Unanswered is what stands for a code in what [Instance.FilterNames] returns,
// where the guest has another reason than the one that it gave.
const Unanswered = 0xff

// MaxName is the length of the longest name of a node, in bytes.
const MaxName = 253

// minNamesBuffer is the least that a buffer for names must hold, in bytes.
const minNamesBuffer = 1 + MaxName

// findFilterNames looks for the two exports.
func (g *Guest) findFilterNames(found map[string]api.FunctionDefinition) error {
	buffer, hasBuffer := found[exportNamesBuffer]
	filter, hasFilter := found[exportFilterNames]
	switch {
	case !hasBuffer && !hasFilter:
		return nil
	case hasBuffer != hasFilter:
		return fmt.Errorf("wasm: guest exports one of func[%s] and func[%s], but needs both or none", exportNamesBuffer, exportFilterNames)
	case !has(buffer, nil, []api.ValueType{i64}):
		return fmt.Errorf("wasm: guest exports the wrong signature for func[%s]. should be () -> (i64)", exportNamesBuffer)
	case !has(filter, []api.ValueType{i32}, []api.ValueType{i32}):
		return fmt.Errorf("wasm: guest exports the wrong signature for func[%s]. should be (i32) -> (i32)", exportFilterNames)
	}
	g.filtersNames = true
	return nil
}

// FiltersNames reports whether the guest can be asked with [Instance.FilterNames].
func (g *Guest) FiltersNames() bool { return g.filtersNames }

// FilterNames asks the guest about nodes by their names: as many as it has room
// for, which is at least one. None is longer than MaxName. The codes are valid
// until the next call; those that are not zero have the reason in Out. An error is
// a [Trap], as for Call.
func (i *Instance) FilterNames(names []string) (codes []byte, err error) {
	i.out = Out{}
	buffer, err := i.namesBuffer()
	if err != nil {
		return nil, err
	}
	fit := write(buffer, names)
	result, err := i.call(exportFilterNames, i.filterNames, uint64(fit))
	if err != nil {
		return nil, err
	}
	answered := uint32(result)
	if answered == 0 || answered > uint32(fit) {
		return nil, i.trap(exportFilterNames, fmt.Errorf("it has answered about %d of %d names", answered, fit))
	}
	if buffer, err = i.namesBuffer(); err != nil { // the memory may have grown
		return nil, err
	}
	return buffer[:answered], nil
}

// namesBuffer is where names are written.
func (i *Instance) namesBuffer() ([]byte, error) {
	if i.names.size == 0 {
		where, err := i.call(exportNamesBuffer, i.module.ExportedFunction(exportNamesBuffer))
		if err != nil {
			return nil, err
		}
		i.names.at, i.names.size = uint32(where>>32), uint32(where)
		i.filterNames = i.module.ExportedFunction(exportFilterNames)
	}
	if i.names.size < minNamesBuffer {
		return nil, i.trap(exportNamesBuffer, fmt.Errorf("it has room for %d bytes, but needs %d at least", i.names.size, minNamesBuffer))
	}
	buffer, ok := i.memory.Read(i.names.at, i.names.size)
	if !ok {
		return nil, i.trap(exportNamesBuffer, errors.New("it is not in the guest's memory"))
	}
	return buffer, nil
}

// write writes names, and says how many have fit.
func write(buffer []byte, names []string) (fit int) {
	for _, name := range names {
		if len(name) >= len(buffer) {
			break
		}
		buffer[0] = byte(len(name))
		buffer = buffer[1+copy(buffer[1:], name):]
		fit++
	}
	return fit
}
