package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// notify makes the browser show a line for a moment and, with done, close the
// dialog that asked.
func notify(w http.ResponseWriter, line string, done bool) {
	event := map[string]any{"notice": line}
	if done {
		event["done"] = ""
	}
	raw, _ := json.Marshal(event)
	w.Header().Set("HX-Trigger", asciiJSON(raw))
}

// asciiJSON escapes what may not stand in a header.
func asciiJSON(raw []byte) string {
	var b strings.Builder
	for _, r := range string(raw) {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r) // all of ours are in the basic plane
		}
	}
	return b.String()
}
