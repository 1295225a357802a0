package report

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// longReason is from how many characters on a reason is not repeated.
const longReason = 60

// claimOrVolume is the name of a claim or of a volume in a reason.
var claimOrVolume = regexp.MustCompile(`(?i)((?:claim|volume)s? )("[^"]*")`)

// SameBut has, for each of some reasons, one that is the same for reasons that differ in names of claims or of volumes alone: it has
// all the names.
func SameBut(reasons []string) map[string]string {
	alike := map[string][]string{} // reasons, by what is left of them without names
	for _, reason := range slices.Compact(slices.Sorted(slices.Values(reasons))) {
		without := claimOrVolume.ReplaceAllString(reason, `$1""`)
		alike[without] = append(alike[without], reason)
	}
	same := map[string]string{}
	for _, of := range alike {
		names := make([][]string, len(claimOrVolume.FindAllString(of[0], -1))) // of each place
		for _, reason := range of {
			for i, found := range claimOrVolume.FindAllStringSubmatch(reason, -1) {
				names[i] = append(names[i], found[2])
			}
		}
		place := 0
		one := claimOrVolume.ReplaceAllStringFunc(of[0], func(found string) string {
			slices.Sort(names[place])
			here := Few(slices.Compact(names[place]))
			place++
			return claimOrVolume.FindStringSubmatch(found)[1] + here
		})
		for _, reason := range of {
			same[reason] = one
		}
	}
	return same
}

// samePods are the pods of reasons, by what SameBut has for each.
func samePods(about map[string][]string, same map[string]string) map[string][]string {
	if about == nil {
		return nil
	}
	all := map[string][]string{}
	for _, reason := range slices.Sorted(maps.Keys(about)) {
		all[same[reason]] = append(all[same[reason]], about[reason]...)
	}
	return all
}

// Once has each long reason that several rows of tables have in their last column, or several pods, be there once, in a list below
// the first of these tables, and a number in its place. about are the pods of reasons, also of reasons that no row shows; nil: the
// rows are listed.
func Once(sections []Section, about map[string][]string) []Section {
	var reasons []string
	for _, s := range sections {
		for _, row := range reasoned(s) {
			_, reason := split(row)
			reasons = append(reasons, reason)
		}
	}
	same := SameBut(slices.AppendSeq(reasons, maps.Keys(about)))
	about = samePods(about, same)
	times := map[string]int{}
	first := -1
	for i, s := range sections {
		for _, row := range reasoned(s) {
			_, reason := split(row)
			reason = same[reason]
			times[reason]++
			if first < 0 && utf8.RuneCountInString(reason) > longReason {
				first = i
			}
		}
	}
	c := &causes{numbers: map[string]int{}, rows: map[string][]string{}}
	for i := range sections {
		s := &sections[i]
		rows := slices.Clone(s.Rows)
		for j, row := range reasoned(*s) {
			prefix, reason := split(row)
			reason = same[reason]
			if (times[reason] > 1 || len(about[reason]) > 1) && utf8.RuneCountInString(reason) > longReason {
				rows[j+1] = append(slices.Clone(row[:len(row)-1]), fmt.Sprint(prefix, "cause ", c.number(reason, row[0])))
			}
		}
		s.Rows = rows
	}
	for _, reason := range slices.SortedFunc(maps.Keys(about), func(a, b string) int { return cmp.Or(len(about[b])-len(about[a]), cmp.Compare(a, b)) }) {
		if times[reason] == 0 && first >= 0 && reason != "" {
			c.number(reason, "")
		}
	}
	if len(c.reasons) == 0 {
		return sections
	}
	return slices.Insert(sections, first+1, c.section(about))
}

// reasoned are the rows of a table of which the last column has reasons.
func reasoned(s Section) [][]string {
	if len(s.Rows) == 0 || s.Rows[0][len(s.Rows[0])-1] != "REASON" {
		return nil
	}
	return s.Rows[1:]
}

// split is the reason of a row, without that a pod was preempted.
func split(row []string) (prefix, reason string) {
	reason = row[len(row)-1]
	by, rest, both := strings.Cut(reason, "; ")
	if both && strings.HasPrefix(by, "preempted by ") {
		return by + "; ", rest
	}
	return "", reason
}

// causes are reasons with their numbers, and the first cells of their rows.
type causes struct {
	reasons []string
	numbers map[string]int
	rows    map[string][]string
}

// number returns the number of a reason, from 1.
func (c *causes) number(reason, row string) int {
	if c.numbers[reason] == 0 {
		c.reasons = append(c.reasons, reason)
		c.numbers[reason] = len(c.reasons)
	}
	if !slices.Contains(c.rows[reason], row) {
		c.rows[reason] = append(c.rows[reason], row)
	}
	return c.numbers[reason]
}

func (c *causes) section(about map[string][]string) (s Section) {
	for i, reason := range c.reasons {
		item := Item{Text: fmt.Sprintf("Cause %d: %s", i+1, reason), Lines: []string{Few(c.rows[reason])}}
		if pods := about[reason]; len(pods) > 0 {
			item = Item{Text: fmt.Sprintf("Cause %d, of %s: %s", i+1, Plural(len(pods), "pod"), reason), Lines: []string{Few(pods)}}
		}
		s.List = append(s.List, item)
	}
	return s
}
