package anonymize

import (
	"crypto/rand"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// common are words that reveal nothing of a user, and that Kubernetes must
// recognize: in kube-system, system-node-critical, linux, amd64, :latest.
var common = map[string]bool{
	"kube": true, "system": true, "public": true, "node": true, "lease": true, "default": true,
	"cluster": true, "critical": true, "linux": true, "windows": true, "amd": true, "arm": true,
	"true": true, "false": true, "latest": true,
}

func commonWords() string { return strings.Join(slices.Sorted(maps.Keys(common)), ", ") }

// words gives each word another one.
type words struct {
	to    map[string]string // both in lower case
	taken map[string]bool
}

func newWords() *words {
	return &words{to: map[string]string{}, taken: maps.Clone(common)}
}

var aWord = regexp.MustCompile("[a-zA-Z]+")

// text replaces the words of a text.
func (w *words) text(text string) string { return aWord.ReplaceAllStringFunc(text, w.word) }

// word is the one that takes the place of another, in the same letters, small and
// capital.
func (w *words) word(word string) string {
	lower := strings.ToLower(word)
	if common[lower] {
		return word
	}
	other, ok := w.to[lower]
	if !ok {
		other = w.draw(len(word))
		w.to[lower], w.taken[other] = other, true
	}
	cased := []byte(other)
	for i := range cased {
		if word[i] < 'a' {
			cased[i] -= 'a' - 'A'
		}
	}
	return string(cased)
}

// draw finds a word that is not taken. There are as many as there can be words of
// that length, so one is left.
func (w *words) draw(length int) string {
	word := make([]byte, length)
	for {
		_, _ = rand.Read(word) // it never fails
		for i := range word {
			word[i] = 'a' + word[i]%26
		}
		if !w.taken[string(word)] {
			return string(word)
		}
	}
}
