package regex

// rowLength is the number of codes: the characters whose code a row of the
// table has an entry for.
const rowLength = 64

// encode returns the code of a character, if it has one: the half of ASCII that
// has bit 5 set, where all characters of nodes' names are. Whatever else a name
// has is read without a table.
func encode(r rune) (code row, ok bool) {
	return row(r&0x1f | r>>1&0x20), r&^0x5f == 0x20
}

// What encode does, for eight characters in one word.
const (
	each8    = 0x0101010101010101
	foreign8 = 0xa0 * each8 // the bits that tell whether there is a code,
	native8  = 0x20 * each8 // and what they are if there is
	low8     = 0x1f * each8
	high8    = 0x20 * each8
)
