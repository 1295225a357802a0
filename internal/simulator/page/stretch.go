package page

import "strconv"

// span is a stretch of a longer list.
type span[T any] struct {
	Items     []T
	From, All int
	size      int
}

func stretch[T any](all []T, from, size int) span[T] {
	s := spanOf[T](len(all), from, size)
	s.Items = all[s.From:min(len(all), s.From+size)]
	return s
}

// spanOf is a stretch without its items.
func spanOf[T any](all, from, size int) span[T] {
	return span[T]{From: max(0, min(from, all-1)), All: all, size: size}
}

// First and To number the items, from 1. Earlier and Later are where the
// neighbours begin, or -1.
func (s span[T]) First() int { return s.From + 1 }
func (s span[T]) To() int    { return s.From + len(s.Items) }

func (s span[T]) Earlier() int {
	if s.From == 0 {
		return -1
	}
	return max(0, s.From-s.size)
}

func (s span[T]) Later() int {
	if s.To() >= s.All {
		return -1
	}
	return s.To()
}

// turn links to another stretch of one of an attempt's tables.
type turn struct {
	First, To, All, Earlier, Later int

	base string
}

// turnOf is for the table that the parameter "rows" or "scores" moves.
func turnOf(v attemptView, parameter string, s interface{ ends() turn }) turn {
	t := s.ends()
	t.base = podURL(v.Namespace, v.Name) + "/attempts/" + strconv.FormatUint(v.ID, 10) + "?" + parameter + "="
	return t
}

func (s span[T]) ends() turn {
	return turn{First: s.First(), To: s.To(), All: s.All, Earlier: s.Earlier(), Later: s.Later()}
}

// Link is the address of the stretch that begins there.
func (t turn) Link(from int) string { return t.base + strconv.Itoa(from) }
