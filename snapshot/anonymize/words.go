package anonymize

import (
	"crypto/rand"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
)

// common are words that reveal nothing of a user, and that Kubernetes must
// recognize: in kube-system, system-node-critical, linux, amd64, :latest.
var common = map[string]bool{
	"kube": true, "system": true, "public": true, "node": true, "lease": true, "default": true,
	"cluster": true, "critical": true, "linux": true, "windows": true, "amd": true, "arm": true,
	"true": true, "false": true, "latest": true,
}

type words struct {
	to    map[string]string // both in lower case
	taken map[string]bool
}

func newWords() *words {
	return &words{to: map[string]string{}, taken: maps.Clone(common)}
}

var aWord = regexp.MustCompile("[a-zA-Z]+")

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

// patterns are the regexes of pods. The words in one are replaced as those in names
// are. That does not do where a pattern cuts through a word, as kube.* does, or
// spells letters in another way, as [ck] does: then the pattern becomes a list of
// the nodes that it matches, if such a list is within the budget of patterns.
type patterns struct {
	words   *words
	nodes   []string          // as they were called
	after   []string          // as they are called now
	done    map[string]string // the result for a pattern
	remarks map[string]string // what a person should know, by what it became
	notices []snapshot.Notice
}

func (p *patterns) translate(pattern string) string {
	if done, ok := p.done[pattern]; ok {
		return done
	}
	done, remark := p.words.pattern(pattern), ""
	wanted, wrong := p.matches(pattern, p.nodes)
	if is, alsoWrong := p.matches(done, p.after); wrong != alsoWrong || !slices.Equal(wanted, is) {
		done, remark = p.list(done, wanted, len(is))
	}
	p.done[pattern], p.remarks[done] = done, remark
	return done
}

// matches are the indices of the nodes that a pattern matches, unless it is rejected.
func (p *patterns) matches(pattern string, nodes []string) (matches []int, rejected bool) {
	selector, err := regex.Default.Compile(pattern)
	if err != nil {
		return nil, true
	}
	for i, node := range nodes {
		if selector.Match(node) {
			matches = append(matches, i)
		}
	}
	return matches, false
}

// list names the nodes that are wanted, instead of a pattern that matches others.
func (p *patterns) list(pattern string, wanted []int, is int) (list, remark string) {
	names := make([]string, len(wanted))
	for i, node := range wanted {
		names[i] = regexp.QuoteMeta(p.after[node])
	}
	listed := "^(?:" + strings.Join(names, "|") + ")$"
	if now, wrong := p.matches(listed, p.after); !wrong && slices.Equal(now, wanted) {
		return listed, fmt.Sprintf("its regex cuts through words, and became a list of the %d nodes that it matches", len(wanted))
	}
	return pattern, fmt.Sprintf("its regex is not kept: it matched %d nodes, and now matches %d", len(wanted), is)
}

// note says what a person should know of a pod's pattern, which is replaced already.
func (p *patterns) note(pod *v1.Pod) {
	for _, key := range regex.Default.Keys() {
		pattern, ok := pod.Annotations[key]
		if remark := p.remarks[pattern]; ok && remark != "" {
			p.notices = append(p.notices, snapshot.Notice{About: "pod " + pod.Namespace + "/" + pod.Name, Reason: remark})
		}
	}
}

// part is a word of a pattern, or what is not made of words: an escape, a class of
// characters, the beginning of a group.
var part = regexp.MustCompile(`\\[pPx]\{[^}]*\}|\\[pPx]?.|\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]|\(\?P?<[^>]*>|\(\?[a-zA-Z-]*[:)]?|[a-zA-Z]+`)

func (w *words) pattern(pattern string) string {
	return part.ReplaceAllStringFunc(pattern, func(part string) string {
		if aWord.MatchString(part[:1]) {
			return w.word(part)
		}
		return part
	})
}

// isKubernetes is true of annotations by which Kubernetes keeps its books.
func isKubernetes(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io")
}
