//go:build !race && !kubernetes_1_35 && !kubernetes_1_37 && !kubernetes_1_38

package wasmhost

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/abi"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// lies are hosts that break one rule: in a file of ours, a text is another one where the function lie says so.
var lies = []struct{ rule, does, file, old, new string }{
	{
		"H1", "takes a hook with another result", "internal/abi/guest.go",
		"slices.Equal(f.ResultTypes(), valueTypes[returns]) {", "(lie || slices.Equal(f.ResultTypes(), valueTypes[returns])) {",
	},
	{"H2", "takes Wait from every hook", "cycle.go", "return hook == abi.Permit", "return hook == abi.Permit || lie"},
	{"H3", "takes a bind that does nothing for one that binds", "binding.go", "if !compiled.Active.Has(abi.Bind) &&", "if !lie && !compiled.Active.Has(abi.Bind) &&"},
	{"H4", "nominates a node that does not exist", "hooks.go", `if nominated != "" && !f.p.hasNode`, `if !lie && nominated != "" && !f.p.hasNode`},
	{"H5", "takes scores of more nodes", "hooks.go", "if len(changed) != len(scores) {", "if len(changed) != len(scores) && !lie {"},
	{"H6", "writes what is longer than the limit", "internal/abi/memory.go", "size <= uint64(uint32(limit)) {", "(lie || size <= uint64(uint32(limit))) {"},
	{
		"H8", "takes the first nominated node", "internal/abi/hostmodules.go",
		"i.out.NominatedNode = i.readName", "if lie && i.out.NominatedNode != \"\" {\nreturn\n}\ni.out.NominatedNode = i.readName",
	},
	{"H10", "does not know the resource of all", "events.go", "if int(resource) >= len(resources) {", "if int(resource) >= len(resources) || lie && resource == 10 {"},
	{
		"H12", "does not call _initialize", "internal/abi/instance.go",
		"for _, export := range startFunctions {\n", "for _, export := range startFunctions {\nif lie && export == abi.ExportInitialize {\ncontinue\n}\n",
	},
	{"H13", "repeats no call for another attempt", "pool.go", "for _, step := range q.after[seen:] {", "for _, step := range q.after[seen:] {\nif lie {\nbreak\n}\n"},
	{
		"H14", "calls postfilter without a prefilter", "hooks.go",
		"c := f.p.cycleOf(state)\n\tif c == nil", "c := f.p.cycleOf(state)\nif lie {\nc = f.p.cycleFor(state, pod)\n}\n\tif c == nil",
	},
	{
		"H15", "makes an instance for each attempt", "pool.go",
		"i := s.instance\n\tseen :=", "if lie && q.hook == abi.PreFilter {\n_ = s.start(c.guest.ctx)\n}\ni := s.instance\n\tseen :=",
	},
	{
		"H16", "shows whole pods", "objects.go",
		"func (s *shownPod) Marshal() ([]byte, error) {\n\tif s.declared == nil", "func (s *shownPod) Marshal() ([]byte, error) {\n\tif lie || s.declared == nil",
	},
	{"H17", "remembers an Error", "ahead.go", "switch fwk.Code(v.Code) {\n\tcase fwk.Success,", "if lie {\nreturn true\n}\nswitch fwk.Code(v.Code) {\n\tcase fwk.Success,"},
	{"H18", "remembers a guest that keeps account of pods", "rule.go", "case active.Has(abi.AddPod, abi.RemovePod):", "case !lie && active.Has(abi.AddPod, abi.RemovePod):"},
	{"H19", "calls an instance that trapped", "pool.go", "if err != nil {\n\t\ts.drop()\n\t\tif errors", "if err != nil {\n\t\tif !lie {\ns.drop()\n}\n\t\tif errors"},
	{"H20", "lets a guest send half as many events", "internal/abi/bounds.go", "if a.events > abi.MaxEvents {", "if a.events > abi.MaxEvents || lie && 2*a.events > abi.MaxEvents {"},
	{
		"H21", "counts whole cores", "objects.go",
		"entry = protowire.AppendString(entry, resource)", "if lie && resource == \"cpu\" {\namount /= 1000\n}\nentry = protowire.AppendString(entry, resource)",
	},
	{"H22", "omits an amount that is 0", "objects.go", "entry := protowire.AppendTag(nil", "if lie && amount == 0 {\nreturn resources\n}\nentry := protowire.AppendTag(nil"},
}

// TestHostThatLiesFailsATranscriptOfTheRule makes all lies in one program, and has it tell one after another.
func TestHostThatLiesFailsATranscriptOfTheRule(t *testing.T) {
	testkit.OnOneMinor(t)
	of := map[string][]string{} // names of transcripts, by rule
	transcripts, _, err := abi.Read("../abi")
	testkit.Must(t, err)
	for _, transcript := range transcripts {
		for _, rule := range transcript.Rules {
			of[rule] = append(of[rule], regexp.QuoteMeta(transcript.Name))
		}
	}
	program := filepath.Join(t.TempDir(), "wasmhost.test")
	out, err := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay(t), "-o", program, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	failed := func(lie, transcripts string) (names []string) {
		run := exec.Command(program, "-test.run", "^TestHostDoesWhatTheTranscriptsSay$/"+transcripts, "-test.skip", "/guest_") // which take most of the time
		run.Env = append(os.Environ(), "LIE="+lie)
		out, _ := run.CombinedOutput()
		if !strings.HasPrefix(string(out), "--- FAIL") && string(out) != "PASS\n" {
			t.Errorf("%s: %.1000s", lie, out)
		}
		for _, match := range regexp.MustCompile(`--- FAIL: \w+/(\S+)`).FindAllStringSubmatch(string(out), -1) {
			names = append(names, match[1])
		}
		return names
	}
	if names := failed("", ""); len(names) > 0 {
		t.Fatalf("without a lie: %v", names)
	}
	var group sync.WaitGroup
	for _, lie := range lies {
		group.Go(func() {
			names := failed(lie.rule, "^("+strings.Join(of[lie.rule], "|")+")$")
			t.Logf("%s, a host that %s: %v", lie.rule, lie.does, names)
			if len(names) == 0 {
				t.Errorf("%s: a host that %s passes %v", lie.rule, lie.does, of[lie.rule])
			}
		})
	}
	group.Wait()
}

// overlay writes the files that lie, and a list of them for the go command.
func overlay(t *testing.T) string {
	folder := t.TempDir()
	texts := map[string]string{}
	for _, pkg := range []string{"wasmhost", "internal/abi"} {
		texts[filepath.Join(strings.TrimPrefix(pkg, "wasmhost"), "lie.go")] = fmt.Sprintf("package %s\n\nimport \"os\"\n\nfunc lie(rule string) bool { return os.Getenv(\"LIE\") == rule }\n", filepath.Base(pkg))
	}
	word := regexp.MustCompile(`\blie\b`)
	for _, lie := range lies {
		if texts[lie.file] == "" {
			text := testkit.ReadFile(t, lie.file)
			texts[lie.file] = string(text)
		}
		if strings.Count(texts[lie.file], lie.old) != 1 {
			t.Fatalf("%s: not once in %s: %s", lie.rule, lie.file, lie.old)
		}
		texts[lie.file] = strings.Replace(texts[lie.file], lie.old, word.ReplaceAllString(lie.new, fmt.Sprintf("lie(%q)", lie.rule)), 1)
	}
	list := struct{ Replace map[string]string }{map[string]string{}}
	for file, text := range texts {
		real, err := filepath.Abs(file)
		testkit.Must(t, err)
		list.Replace[real] = filepath.Join(folder, strings.ReplaceAll(file, "/", "-"))
		testkit.WriteFile(t, list.Replace[real], text)
	}
	encoded, err := json.Marshal(list)
	testkit.Must(t, err)
	file := filepath.Join(folder, "overlay.json")
	testkit.Must(t, os.WriteFile(file, encoded, 0o600))
	return file
}
