package dialect

import (
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Notes says, a sentence each, what in a pattern may mean something else than was meant.
// It is for patterns that are not refused.
func Notes(pattern string) []string {
	return append(Python(pattern), Hostlist(pattern)...)
}

// PodNotes are the notes on the patterns of a pod, with the annotations that carry these.
func PodNotes(policy regex.Policy, annotations map[string]string) (notes []string) {
	for _, key := range []string{policy.Annotation, policy.ExcludeAnnotation} {
		for _, note := range Notes(annotations[key]) {
			notes = append(notes, "annotation "+key+": "+note)
		}
	}
	return notes
}

// The parts of an event about a pod's patterns, beside its note. It is of type Warning.
const (
	EventReason = "SuspiciousRegex"
	EventAction = "Scheduling"
)

// maxEvent is how many bytes the API server takes as the note of an event.
const maxEvent = 1024

// EventNote is the note of an event about a pod's patterns, or "" where there is nothing
// to say. One event has all notes: of two with the same reason only the first is kept.
func EventNote(policy regex.Policy, annotations map[string]string) string {
	const more = " …"
	note := strings.Join(PodNotes(policy, annotations), "; ")
	if len(note) > maxEvent {
		note = strings.ToValidUTF8(note[:maxEvent-len(more)], "") + more
	}
	return note
}
