package wire

import "encoding/json"

// isPlain reports whether a string is its own JSON encoding, but for quotes.
func isPlain[text string | []byte](s text) bool {
	for i := range len(s) {
		if b := s[i]; b < ' ' || b >= 0x7f || b == '"' || b == '\\' {
			return false
		}
	}
	return true
}

// appendString appends s as JSON.
func appendString(dst []byte, s string, plain bool) []byte {
	if plain || isPlain(s) {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	encoded, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always marshal
	}
	return append(dst, encoded...)
}
