package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Basis is what the answer to a what-if stands on.
type Basis struct {
	Cluster string `json:"cluster,omitempty"` // what was copied, such as "a copy of prod"; empty if that is not known
	Config  string `json:"config,omitempty"`  // the name of the configuration
	// ConfigReason is why it is this one.
	ConfigReason string `json:"configReason,omitempty"`
	// Ignored are pods that were tried without their regex, which nothing in the configuration reads.
	Ignored []string `json:"ignored,omitempty"`
	// Renamed are sentences about pods whose regex one configuration of several reads, and another ignores, which reads other annotations.
	Renamed     []string `json:"renamed,omitempty"`
	Seed        uint64   `json:"seed"`               // of the run that is shown
	Runs        []Run    `json:"runs,omitempty"`     // all of them, if there are several
	Counts      string   `json:"counts,omitempty"`   // what the runs' Count is of, such as "pods without a node"
	Before      []string `json:"before,omitempty"`   // what controllers changed before the question
	Skipped     []string `json:"skipped,omitempty"`  // pods that are being deleted already
	Inferred    []string `json:"inferred,omitempty"` // what the file lacks, and was made as its pods are
	NotModelled []string `json:"notModelled"`        // what the scheduler asked for and the copy does not have
	Stopped     []string `json:"stopped,omitempty"`  // where controllers were stopped, though they had not come to an end
	Lacks       []Lack   `json:"lacks,omitempty"`    // kinds that the input lacks, or of which the cluster has no objects; the first one matters most
	Remedy      string   `json:"remedy,omitempty"`   // the command that writes an input with Lacks, or what else to do
}

// Lack is some kinds that an input lacks, and what that could change.
type Lack struct {
	Kinds  []string `json:"kinds"`
	Effect string   `json:"effect"`
}

// String is the kinds and the effect.
func (l Lack) String() string { return strings.Join(l.Kinds, ", ") + ": " + l.Effect }

// Qualify makes a verdict of a sentence: without a full stop, as one of a scheduler's message at its end, and if something that the
// input lacks may change it, it says so.
func (b *Basis) Qualify(answer string) string {
	answer = strings.TrimSuffix(answer, ".")
	if b == nil || len(b.Lacks) == 0 {
		return answer
	}
	return answer + ", as far as the input shows"
}

// Lacking says in a line what the input lacks that matters most. It stands below the answer.
func (b *Basis) Lacking() (s Section) {
	if b == nil || len(b.Lacks) == 0 {
		return s
	}
	text := "The answer may be wrong, as the input has no " + b.Lacks[0].String() + "."
	if len(b.Lacks) > 1 {
		text += " The end of this report has " + fmt.Sprint(len(b.Lacks)-1) + " more."
	}
	s.Text = []string{text}
	return s
}

// Remedies are the sections of what else the input lacks, and what to do. They stand above the last line.
func (b *Basis) Remedies() []Section {
	if b == nil || len(b.Lacks) == 0 {
		return nil
	}
	more := Section{}
	for _, lack := range b.Lacks[1:] {
		more.Text = []string{"The input has none of these either:"}
		more.List = append(more.List, Item{Text: lack.String()})
	}
	if b.Remedy == "" {
		return []Section{more}
	}
	remedy := Section{Text: []string{"Of these kinds, either the cluster has no objects, or the input lacks them. " + b.Remedy}}
	if strings.HasPrefix(b.Remedy, "kubectl ") {
		remedy = Section{Text: []string{"Of these kinds, either the cluster has no objects, or the input lacks them. This command lists all kinds:"}, Run: b.Remedy}
	}
	return []Section{more, remedy}
}

// Run is a run with a seed, and the number that distinguishes it.
type Run struct {
	Seed  uint64 `json:"seed"`
	Count int    `json:"count"`
}

// String is the last line of a report.
func (b *Basis) String() string {
	text := "Tried in memory"
	if b.Cluster != "" {
		text += " on " + b.Cluster + ","
	}
	if b.Config != "" {
		text += " under " + b.Config + ","
		if b.ConfigReason != "" {
			text = strings.TrimSuffix(text, ",") + " (" + b.ConfigReason + "),"
		}
	}
	text = strings.TrimSuffix(text, ",")
	if len(b.Runs) < 2 {
		text += fmt.Sprintf(", with seed %d", b.Seed)
	} else {
		runs := len(b.Runs)
		text += fmt.Sprintf(", %d times, with seeds %d to %d: %s. Shown is the run with seed %d",
			runs, b.Runs[0].Seed, b.Runs[runs-1].Seed, b.often(), b.Seed)
	}
	if len(b.Ignored) > 0 {
		text += ". IGNORED: the regex of " + Plural(len(b.Ignored), "pod") + ", which nothing in the configuration reads: " + Few(b.Ignored)
	}
	if len(b.Renamed) > 0 {
		text += ". IGNORED: " + strings.Join(b.Renamed, "; ")
	}
	if len(b.Skipped) > 0 {
		text += ". Skipped: " + Plural(len(b.Skipped), "pod") + " already being deleted: " + Few(b.Skipped)
	}
	if len(b.Inferred) > 0 {
		text += ". Inferred from pods, since the file lacks them: " + Few(b.Inferred)
	}
	if len(b.Before) > 0 {
		text += ". Before the question, " + Few(b.Before)
	}
	if len(b.NotModelled) > 0 {
		text += ". Requested, and not modelled: " + strings.Join(b.NotModelled, ", ")
	}
	if len(b.Stopped) > 0 {
		text += ". Stopped looking: " + strings.Join(b.Stopped, "; ")
	}
	return text + ". Webhooks, admission policies, service accounts and autoscalers are not modelled."
}

// often says in how many runs there were how many, such as "pods without a node: 0 in 2 runs, 3 in 1 run".
func (b *Basis) often() string {
	runs := map[int]int{}
	for _, run := range b.Runs {
		runs[run.Count]++
	}
	var all []string
	for _, count := range slices.Sorted(maps.Keys(runs)) {
		all = append(all, fmt.Sprintf("%d in %s", count, Plural(runs[count], "run")))
	}
	return b.Counts + ": " + strings.Join(all, ", ")
}
