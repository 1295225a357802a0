package dialect

import (
	"slices"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Notes returns, in a sentence each, what in a valid pattern may not mean what its author
// expects.
func Notes(pattern string) []string {
	return slices.Concat(Python(pattern), Hostlist(pattern), Pasted(pattern))
}

// PodNotes returns the notes on the patterns of a pod. Each begins with its annotation.
func PodNotes(policy regex.Policy, annotations map[string]string) (notes []string) {
	for _, key := range policy.Keys() {
		for _, note := range Notes(annotations[key]) {
			notes = append(notes, "annotation "+key+": "+note)
		}
	}
	return notes
}

// The reason and the action of the event about a pod's patterns. Its type is Warning.
const (
	EventReason = "SuspiciousRegex"
	EventAction = "Scheduling"
)

// maxEvent is how many bytes the API server accepts as the note of an event.
const maxEvent = 1024

// EventNote returns the note of an event about a pod's patterns, or "" without any. One
// event has all notes, since of two with the same reason only the first is kept.
func EventNote(policy regex.Policy, annotations map[string]string) string {
	const more = " …"
	note := strings.Join(PodNotes(policy, annotations), "; ")
	if len(note) > maxEvent {
		note = strings.ToValidUTF8(note[:maxEvent-len(more)], "") + more
	}
	return note
}
