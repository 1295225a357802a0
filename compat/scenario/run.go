package scenario

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// hooks has every hook, and how its nodes are given.
var hooks = map[string]nodes{
	"enqueue":   none,
	"prefilter": none, "addpod": each, "removepod": each, "filter": each, "postfilter": none,
	"prescore": all, "score": each, "normalizescore": none,
	"reserve": each, "unreserve": each, "permit": each, "prebind": each, "bind": each, "postbind": each,
}

type nodes int

const (
	none nodes = iota
	each       // a call for each node
	all        // one call with all of them
)

// Start makes the plugin of a scenario. What the guest does to the scheduler goes
// into notes, what it logs included.
type Start func(s Scenario, args Args, notes *Notes) (Host, error)

// Transcript runs scenarios. The root is the path of the repository.
func Transcript(root string, scenarios []Scenario, start Start) string {
	var text strings.Builder
	for i, s := range scenarios {
		if i > 0 {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, "== %s\n   %s\n", s.About, s.describe())
		run(&text, root, s, start)
	}
	return text.String()
}

func (s Scenario) describe() string {
	name := path.Base(s.Guest)
	if s.Args.GuestConfig != "" {
		name += fmt.Sprintf(", guestConfig %q", s.Args.GuestConfig)
	}
	if s.Args.LogSeverity != 0 {
		name += fmt.Sprintf(", logSeverity %d", s.Args.LogSeverity)
	}
	if len(s.Waiting) > 0 {
		name += ", waiting: " + strings.Join(s.Waiting, " ")
	}
	return name
}

func run(text *strings.Builder, root string, s Scenario, start Start) {
	args := s.Args
	args.GuestURL = "file://" + path.Join(root, s.Guest)
	notes := &Notes{}
	defer notes.listen()()

	host, err := start(s, args, notes)
	if err != nil {
		text.WriteString("does not start\n")
		return
	}
	for _, call := range s.Calls {
		for _, question := range s.questions(call) {
			fmt.Fprintf(text, "%s%s\n", question, ask(host, question, func(answer Answer) string {
				return s.words(call, answer)
			}))
			for _, note := range notes.take() {
				fmt.Fprintf(text, "    %s\n", note)
			}
		}
	}
}

// ask reports a panic too: the scheduler would not survive it.
func ask(host Host, question Question, words func(Answer) string) (text string) {
	defer func() {
		if recover() != nil {
			text = ": panic"
		}
	}()
	return words(host.Ask(question))
}

// questions are the calls of a hook, one for each node where the hook is called so.
func (s Scenario) questions(call Call) []Question {
	question := Question{
		Hook: call.Hook, Pod: s.Cluster.Pod(call.Pod), Target: s.Cluster.Pod(call.Target),
		Statuses: call.Statuses, Scores: call.Scores,
	}
	nodes := call.Nodes
	if len(nodes) == 0 {
		nodes = s.Cluster.nodeNames()
	}
	switch hooks[call.Hook] {
	case all:
		question.Nodes = nodes
	case each:
		questions := make([]Question, len(nodes))
		for i, node := range nodes {
			questions[i] = question
			questions[i].Node = node
		}
		return questions
	}
	return []Question{question}
}

// String names the call.
func (q Question) String() string {
	text := q.Hook
	if q.Pod != nil {
		text += " " + q.Pod.Name
	}
	if q.Target != nil {
		text += ", target " + q.Target.Name
	}
	if q.Node != "" {
		text += " on " + q.Node
	}
	if len(q.Nodes) > 0 {
		text += " on " + strings.Join(q.Nodes, ", ")
	}
	if len(q.Statuses) > 0 {
		text += " after " + pairs(q.Statuses)
	}
	if len(q.Scores) > 0 {
		text += " of " + pairs(q.Scores)
	}
	return text
}

func pairs[V any](m map[string]V) string {
	var text []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		text = append(text, fmt.Sprintf("%s=%v", key, m[key]))
	}
	return strings.Join(text, " ")
}
