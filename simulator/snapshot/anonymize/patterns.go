package anonymize

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// patterns are the regexes of pods. The words in one are replaced as those in names
// are. That does not do where a pattern cuts through a word, as kube.* does, or
// spells letters in another way, as [ck] does: then the pattern becomes a list of
// the nodes that it matches, if such a list is within the budget of patterns.
type patterns struct {
	words   *words
	nodes   []string // as they were called
	after   []string // as they are called now
	done    map[string]translation
	of      map[string]translation // by what they became
	notices []snapshot.Notice
}

// translation is what became of a pattern.
type translation struct {
	pattern string
	remark  string // what a person should know, if anything
}

func (p *patterns) translate(pattern string) translation {
	if done, ok := p.done[pattern]; ok {
		return done
	}
	done := translation{pattern: p.words.pattern(pattern)}
	wanted, wrong := p.matches(pattern, p.nodes)
	if is, alsoWrong := p.matches(done.pattern, p.after); wrong != alsoWrong || !slices.Equal(wanted, is) {
		done = p.list(done.pattern, wanted, len(is))
	}
	p.done[pattern] = done
	p.of[done.pattern] = done
	return done
}

// matches are the indices of the nodes that a pattern matches, unless it is refused.
func (p *patterns) matches(pattern string, nodes []string) (matches []int, refused bool) {
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
func (p *patterns) list(pattern string, wanted []int, is int) translation {
	names := make([]string, len(wanted))
	for i, node := range wanted {
		names[i] = regexp.QuoteMeta(p.after[node])
	}
	listed := "^(?:" + strings.Join(names, "|") + ")$"
	if now, wrong := p.matches(listed, p.after); !wrong && slices.Equal(now, wanted) {
		return translation{listed, fmt.Sprintf("its regex cuts through words, and became a list of the %d nodes that it matches", len(wanted))}
	}
	return translation{pattern, fmt.Sprintf("its regex is not kept: it matched %d nodes, and now matches %d", len(wanted), is)}
}

// note says what a person should know of a pod's pattern, which is replaced already.
func (p *patterns) note(pod *v1.Pod) {
	for _, key := range []string{regex.Annotation, regex.ExcludeAnnotation} {
		pattern, ok := pod.Annotations[key]
		if remark := p.of[pattern].remark; ok && remark != "" {
			p.notices = append(p.notices, snapshot.Notice{About: "pod " + pod.Namespace + "/" + pod.Name, Reason: remark})
		}
	}
}

// verbatim is what is not made of words in a pattern: escapes, classes of
// characters, and the beginnings of groups.
var verbatim = regexp.MustCompile(`^(?:\\[pPx]\{[^}]*\}|\\[pPx]?.|\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]|\(\?P?<[^>]*>|\(\?[a-zA-Z-]*[:)]?)`)

// pattern replaces the words of a regex.
func (w *words) pattern(pattern string) string {
	var b strings.Builder
	for pattern != "" {
		end := len(verbatim.FindString(pattern))
		if end > 0 {
			b.WriteString(pattern[:end])
			pattern = pattern[end:]
			continue
		}
		for end < len(pattern) && isLetter(pattern[end]) {
			end++
		}
		if end == 0 {
			end = 1
		}
		b.WriteString(w.text(pattern[:end]))
		pattern = pattern[end:]
	}
	return b.String()
}

// isKubernetes is true of annotations by which Kubernetes keeps its books.
func isKubernetes(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io")
}
