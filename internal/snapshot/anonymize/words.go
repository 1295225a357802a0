package anonymize

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// common are words that reveal nothing of a user, and that Kubernetes must
// recognize: in kube-system, system-node-critical, linux, amd64, :latest, localhost/PROFILE, iqn.2001-04.
var common = map[string]bool{
	"kube": true, "apiserver": true, "system": true, "public": true, "node": true, "lease": true, "default": true,
	"cluster": true, "critical": true, "linux": true, "windows": true, "amd": true, "arm": true,
	"true": true, "false": true, "latest": true, "iqn": true, "eui": true, "naa": true,
	"runtime": true, "unconfined": true, "localhost": true, "docker": true,
}

var (
	aWord = regexp.MustCompile(`[\p{L}\p{M}]+`)
	// aUID is one as API servers make them.
	aUID      = regexp.MustCompile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
	uidOrWord = regexp.MustCompile(aUID.String() + "|" + aWord.String())
)

// secrets are the words and UIDs of a snapshot that are replaced, in lower case.
type secrets map[string]bool

func (s secrets) inText(text string) string { return replaceInText(text, s.add) }

func (s secrets) inPattern(pattern string) string { return replaceInPattern(pattern, s.add) }

func (s secrets) add(word string) string {
	lower := strings.ToLower(word)
	if !common[lower] {
		s[lower] = true
	}
	return word
}

// words has the word that takes the place of each secret, both in lower case.
type words map[string]string

func newWords(found secrets, random *rand.Rand) words {
	byLength := map[int][]string{}
	w := words{}
	for _, word := range slices.Sorted(maps.Keys(found)) {
		if aUID.MatchString(word) {
			w[word] = drawUID(random)
			continue
		}
		if isAddress(word) {
			w[word] = fmt.Sprintf("2001:db8::%x:%x:%x:%x", random.UintN(1<<16), random.UintN(1<<16), random.UintN(1<<16), random.UintN(1<<16))
			continue
		}
		length := utf8.RuneCountInString(word)
		byLength[length] = append(byLength[length], word)
	}
	for _, length := range slices.Sorted(maps.Keys(byLength)) {
		w.choose(byLength[length], random)
	}
	return w
}

// choose gives each secret of one length another word. In a circle of the secrets and
// then other words, a secret becomes what stands as many places on as there are secrets:
// so no two become the same, none stays itself, and with as many other words as
// secrets, none becomes a secret.
func (w words) choose(same []string, random *rand.Rand) {
	random.Shuffle(len(same), func(i, j int) { same[i], same[j] = same[j], same[i] })
	circle := slices.Clone(same)
	taken := maps.Clone(common)
	for _, word := range same {
		taken[word] = true
	}
	const often = 100 // that finds all other words where these are few
	for tries := 0; tries < often*len(same) && len(circle) < 2*len(same); tries++ {
		word := draw(utf8.RuneCountInString(same[0]), random)
		if !taken[word] {
			taken[word] = true
			circle = append(circle, word)
		}
	}
	step := min(len(same), len(circle)-1) // all of them are secrets: a full turn would change nothing
	for i, word := range same {
		w[word] = circle[(i+step)%len(circle)]
	}
}

func draw(length int, random *rand.Rand) string {
	word := make([]byte, length)
	for i := range word {
		word[i] = 'a' + byte(random.IntN(26))
	}
	return string(word)
}

func drawUID(random *rand.Rand) string {
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", random.Uint32(), random.UintN(1<<16), random.UintN(1<<16), random.UintN(1<<16), random.Uint64N(1<<48))
}

func (w words) text(text string) string { return replaceInText(text, w.word) }

func (w words) pattern(pattern string) string { return replaceInPattern(pattern, w.word) }

// word is the one that takes the place of another, in the same letters, small and
// capital.
func (w words) word(word string) string {
	lower := strings.ToLower(word)
	if common[lower] {
		return word
	}
	if aUID.MatchString(word) || isAddress(word) {
		return w[lower]
	}
	cased := []rune(w[lower])
	for i, r := range []rune(word) {
		if i < len(cased) && unicode.IsUpper(r) {
			cased[i] = unicode.ToUpper(cased[i])
		}
	}
	return string(cased)
}

func replaceInText(text string, word func(string) string) string {
	if strings.Contains(text, ":") && isAddress(text) { // nodes may be called as addresses of IPv4 are
		return word(text)
	}
	return uidOrWord.ReplaceAllStringFunc(text, word)
}

// isAddress reports whether text is an address, and not one that means the same on each node.
func isAddress(text string) bool {
	addr, err := netip.ParseAddr(text)
	return err == nil && !addr.IsUnspecified() && !addr.IsLoopback()
}

// patterns are the regexes of pods. The words in one are replaced as those in names
// are. That does not do where a pattern cuts through a word, as kube.* does, or
// spells letters in another way, as [ck] does: then the pattern becomes a list of
// the nodes that it matches, if such a list is within the budget of patterns.
type patterns struct {
	words   words
	nodes   []string          // as they were called
	after   []string          // as they are called now
	done    map[string]string // the result for a pattern
	notices []snapshot.Notice
}

func (p *patterns) translate(pattern string) string {
	if done, ok := p.done[pattern]; ok {
		return done
	}
	done := p.words.pattern(pattern)
	wanted, wrong := p.matches(pattern, p.nodes)
	is, alsoWrong := p.matches(done, p.after)
	if wrong != alsoWrong || !slices.Equal(wanted, is) {
		var remark string
		done, remark = p.list(done, wanted, len(is))
		p.notices = append(p.notices, snapshot.Notice{About: "regex " + done, Reason: remark})
	}
	p.done[pattern] = done
	return done
}

// matches are the indices of the nodes that a pattern matches, unless it is rejected.
func (p *patterns) matches(pattern string, nodes []string) (matches []int, rejected bool) {
	rules, err := regex.Default.Compile(map[string]string{regex.Annotation: pattern})
	if err != nil {
		return nil, true
	}
	for i, node := range nodes {
		if rules.Judge(node) == regex.Qualifies {
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
	now, wrong := p.matches(listed, p.after)
	if !wrong && slices.Equal(now, wanted) {
		return listed, fmt.Sprintf("it cut through words, and became a list of the %d nodes that it matches", len(wanted))
	}
	return pattern, fmt.Sprintf("it is not kept: it matched %d nodes, and now matches %d", len(wanted), is)
}

// part is a word of a pattern, or what is not made of words: an escape, a class of
// characters, the beginning of a group.
var part = regexp.MustCompile(`\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\x[0-9a-fA-F]{2}|\\[0-7]{2,3}|\\[pP]?.|\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]|\(\?P?<[^>]*>|\(\?[a-zA-Z-]*[:)]?|[\p{L}\p{M}]+`)

// letters are the letters and ranges of letters in a class of characters, and its escapes.
var letters = regexp.MustCompile(`\\.|\[:\^?[a-z]+:\]|\p{L}-\p{L}|[\p{L}\p{M}]`)

func replaceInPattern(pattern string, word func(string) string) string {
	return part.ReplaceAllStringFunc(pattern, func(part string) string {
		switch {
		case strings.HasSuffix(part, ">") && part[0] == '(':
			before, name, _ := strings.Cut(part, "<")
			return before + "<" + aWord.ReplaceAllStringFunc(name, word)
		case part[0] == '[': // it may spell a word, one letter in each class
			return letters.ReplaceAllStringFunc(part, func(some string) string {
				first, _ := utf8.DecodeRuneInString(some)
				switch {
				case first == '\\' || first == '[':
					return some
				case unicode.IsUpper(first):
					return "A-Z"
				}
				return "a-z"
			})
		case len(part) > 2 && part[0] == '\\' && (part[1] == 'x' || part[1] <= '7'):
			return "[a-zA-Z]" // as may escapes
		case aWord.MatchString(part) && part[0] != '\\' && part[0] != '(':
			return word(part)
		}
		return part
	})
}

// isKubernetes reports whether an annotation is one by which Kubernetes keeps its books.
func isKubernetes(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io")
}
