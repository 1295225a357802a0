package wasmhost_test

import (
	"regexp"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/compat/scenario"
)

// difference is where our host answers otherwise than the upstream one, and why.
type difference struct {
	why       string
	scenario  string // a part of its title; empty: any
	want, got string // regular expressions, for all of a call and what is below it
	// holds says whether got is right, where that takes more than an expression.
	holds func(found scenario.Difference) bool
}

// differences are all there are.
var differences = []difference{
	{
		why:  "the framework would take Success for a node that was found, and ask no other plugin",
		want: `postfilter .*: Success(; nominates "" in mode 1)?`, got: `postfilter .*: Unschedulable(; nominates "" in mode 1)?`,
	},
	{
		why:  "a status code that does not exist would end the scheduler",
		want: `.*: panic`, got: `.*: Error, "wasm: \w+ returned the status code 7, which does not exist"(; .*)?`,
	},
	{
		why:  "a status code that a hook may not return would be an error without a cause, or none",
		want: `\w+ .*: (Wait|Skip)(, ".*")?(; .*)?`, got: `\w+ .*: Error, "wasm: \w+ returned the status code (4, Wait|5, Skip), which is not for this hook"(; .*)?`,
	},
	{
		why:  "a node that does not exist is not nominated",
		want: `postfilter .*: Success; nominates "node-1" in mode 1`, got: `postfilter .*: Unschedulable, "wasm: postfilter nominated the node .*, which does not exist"`,
	},
	{
		why:  "scores that are too few, or no scores, would end the scheduler",
		want: `normalizescore .*: panic`, got: `normalizescore .*: Error, (a trap|"wasm: normalizescore returned 1 scores for 2 nodes"); .*`,
	},
	{
		why:      "a guest that cannot name its events is refused at the start",
		scenario: "enqueue traps", want: `enqueue: panic`, got: `does not start`,
	},
	{
		why:      "what is not in the ABI never comes, so it is skipped, and logged",
		scenario: "a resource that there is not", want: `enqueue: Success\n +EventResource\(99\) Add`, got: `enqueue: Success(\n +.*)*`,
	},
	{
		why:      "an event without an action never comes either",
		scenario: "no action", want: `enqueue: Success\n +Node \n +Node Add`, got: `enqueue: Success\n +Node Add`,
	},
	{
		why:      "_initialize is called: without it a library has neither its variables nor what registers itself",
		scenario: "built as a library", want: `filter .*: Unschedulable`, got: `filter .*: Success`,
	},
	{
		why:      "a guest that has ended when it has started, with exit code 0, is refused at the start",
		scenario: "built as a program", want: `filter .*: Error, "wasm: filter error: module closed with exit_code\(0\)"`, got: `does not start`,
	},
	{
		why:      "a library none of whose hooks decides anything, since its main has not been run, is refused at the start",
		scenario: "main has not been run", want: `prefilter .*: Success\nfilter .*: Success`, got: `does not start`,
	},
	{
		why:      "a guest is not asked in PostFilter about a pod whose PreFilter it has not seen: it would speak of another one",
		scenario: "where prefilter was not called", want: `postfilter .*: Unschedulable, ".+"`, got: `postfilter .*: Unschedulable`,
	},
	{
		why:  "a reason is one printable line",
		want: `\w+ .*: \w+, ".*\\(n|x[01]\d).*"`, got: `\w+ .*: \w+, "[^\\]+"`,
	},
	{
		why:      "a pod's Unreserve runs on the instance of its cycle: it goes on counting",
		scenario: "given up", want: `unreserve (\w+) on \S+\n +logs "A"`, got: `unreserve \w+ on \S+\n +logs "[EF]"`,
	},
	{
		why:      "a text that cannot be written is a trap, as an object is: the guest would take what was there before for it",
		scenario: "outside of the memory, for currentNodeName", want: `filter .*: Unschedulable`, got: `filter .*: Error, a trap`,
	},
	{
		why:      "a guest has one instance for all pods: it counts from the PreFilter that is repeated after another pod's call",
		scenario: "while another one is bound", want: `(filter|prebind|bind|postbind) [^"]*"[CEFG]"`, got: `(filter|prebind|bind|postbind) [^"]*"[BCD]"`,
	},
	{
		why:      "a guest that trapped is replaced",
		scenario: "goes on trapping", want: `prefilter plain: Error, a trap`, got: `prefilter plain: Success`,
	},
	{
		why:  "a guest with one hook of the binding cycle comes with all of them, which have nothing to say",
		want: `(reserve|prebind|bind|postbind|unreserve) .*: the plugin has no such hook`,
		got:  `((un)?reserve|prebind|postbind) .*?(: Success)?|bind .*: Skip`,
	},
	{
		why:  "this Kubernetes has no bit for an update of something without a bit: it is any update",
		want: `enqueue: Success(\n +.*)*\n +.*(UpdatePodOther|UpdateNodeAllocatable).*(\n +.*)*`, got: `enqueue: Success(\n +.*)*\n +\S+ Update(\n +.*)*`,
	},
	{
		why:      "a note is a text and no format",
		scenario: "an event of the recorder", want: `(?s)(.*)%!\(EXTRA <nil>\)(.*)`, got: `(?s)[^%]*`,
	},
	{
		why:      "all from the least severity up is logged: errors by default, too, and warnings",
		scenario: "logs of severity", want: `(?s).*`, got: `(?s).*`, holds: logsFromTheLeast,
	},
}

// explained returns the place in differences of one that was found, or -1.
func explained(found scenario.Difference) int {
	for i, d := range differences {
		if strings.Contains(found.Scenario, d.scenario) && whole(d.want, found.Want) && whole(d.got, found.Got) &&
			(d.holds == nil || d.holds(found)) {
			return i
		}
	}
	return -1
}

func whole(pattern, text string) bool {
	return regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString(text)
}

// logsFromTheLeast knows the least severity from the scenario's title, and that of
// the three messages from the end of the node's name.
func logsFromTheLeast(found scenario.Difference) bool {
	_, least, _ := strings.Cut(found.Scenario, ", where ")
	call, logs, _ := strings.Cut(found.Got, "\n")
	severity := strings.TrimSuffix(call, ": Success")
	severity = severity[len(severity)-1:]
	if severity < least[:1] {
		return logs == ""
	}
	kind := ""
	if severity >= "2" {
		kind = "the error "
	}
	one := ` +logs ` + kind + `"a message"`
	return whole(one+"\n +logs "+kind+`"a message.*colour.*red.*size.*7\S*`+"\n"+one, logs)
}
