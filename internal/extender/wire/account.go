package wire

// What a request takes beside its body, in bytes, and rather more than less: for
// a node's place here, in an algorithm and in a set of names; for an annotation;
// for a byte of a string and its copies; and for one of a string that has to be
// decoded, and encoded again.
const (
	perNode        = 128
	perAnnotation  = 256
	perByte        = 4
	perByteDecoded = 12
)

// account asks for memory, but not for every node.
type account struct {
	take    func(bytes int64) error
	owed    int64
	refused error
}

const enough = 64 << 10

func (a *account) owe(n int64) error {
	if a.owed += n; a.owed < enough {
		return nil
	}
	return a.pay()
}

func (a *account) pay() error {
	a.refused = a.take(a.owed)
	a.owed = 0
	return a.refused
}
