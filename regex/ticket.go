package regex

// A Ticket stands for a selector where a pointer would be in the way: in the hot
// path of a guest, where TinyGo keeps every pointer in memory for its collector.
// The zero Ticket stands for none.
type Ticket uint32

// Ticket returns the selector's. No other selector gets the same.
func (s *Selector) Ticket() Ticket { return s.program.ticket }

// Known says what [Cycle.Match] would say of a name that resembles those which
// the selector met last. It builds nothing, and so it spends nothing of a
// cycle's work. For any other name known is false: ask [Cycle.Learn].
func (t Ticket) Known(name string) (matches, known bool) {
	d := borrow()
	at := d.warm(t, name)
	giveBack(d)
	return at == matched, at != unknown
}
