package page

import "cmp"

// natural compares names so that node-9 comes before node-10.
func natural(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if !digit(a[i]) || !digit(b[j]) {
			if a[i] != b[j] {
				return cmp.Compare(a[i], b[j])
			}
			i, j = i+1, j+1
			continue
		}
		m, n := number(a, i), number(b, j)
		x, y := trimZeros(a[i:m]), trimZeros(b[j:n])
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
			return c
		}
		i, j = m, n
	}
	return cmp.Or(cmp.Compare(len(a)-i, len(b)-j), cmp.Compare(a, b))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// number returns where the digits that begin at i end.
func number(s string, i int) int {
	for i < len(s) && digit(s[i]) {
		i++
	}
	return i
}

func trimZeros(s string) string {
	for len(s) > 1 && s[0] == '0' {
		s = s[1:]
	}
	return s
}
