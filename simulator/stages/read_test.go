package stages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stage is a file of one stage of pods, whose spec goes on with more. What more
// begins with is on line 7.
func stage(more string) string { return stageOf("v1", "Pod", more) }

func stageOf(version, kind, more string) string {
	return "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata:\n  name: tried\nspec:\n" +
		"  resourceRef: {apiGroup: " + version + ", kind: " + kind + "}\n" + more + "\n"
}

const anything = "  selector: {}\n" // one line

func read(t *testing.T, text string) *Set {
	t.Helper()
	set, err := Read(Source{"stages.yaml", []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestWhatIsWrongIsRefusedWhereItStands(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no YAML":                  {"kind: Stage\n\tx", "stages.yaml:2: no YAML: found a tab character that violates indentation"},
		"nothing":                  {"# nothing\n", "stages.yaml:1: there are no stages in it"},
		"no object":                {"- a\n", "stages.yaml:1: this is no stage: it has no fields"},
		"another kind":             {"---\napiVersion: v1\nkind: Pod\n", "stages.yaml:3: kind: is Pod (v1), but only Stage (kwok.x-k8s.io/v1alpha1) is read: take it out of the file"},
		"another version":          {"apiVersion: kwok.x-k8s.io/v2\nkind: Stage\n", "stages.yaml:2: kind: is Stage of apiVersion kwok.x-k8s.io/v2, but only kwok.x-k8s.io/v1alpha1 is read"},
		"another kind in a list":   {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n", "stages.yaml:5: items[0].kind: is Secret (v1), but"},
		"a field twice":            {stage(anything + "  weight: 1\n  weight: 2"), "stages.yaml:9: spec.weight: \"weight\" stands on line 8 already"},
		"an unknown field":         {stage(anything + "  wieght: 1"), `stages.yaml:8: stage tried: spec.wieght: unknown field: do you mean "weight"?`},
		"a field of another type":  {stage(anything + "  weight: much"), "stages.yaml:8: stage tried: spec.weight: is text, but must be a number"},
		"no kind":                  {stageOf("v1", `""`, anything), "stages.yaml:6: stage tried: spec.resourceRef.kind: is missing"},
		"no version":               {stageOf("a/b/c", "Pod", anything), `stages.yaml:6: stage tried: spec.resourceRef.apiGroup: "a/b/c" is no group and version`},
		"a negative weight":        {stage(anything + "  weight: -1"), "stages.yaml:8: stage tried: spec.weight: must not be negative"},
		"a negative delay":         {stage(anything + "  delay:\n    durationMilliseconds: -1"), "stages.yaml:9: stage tried: spec.delay.durationMilliseconds: must be from 0 to"},
		"a misspelt operator":      {stage("  selector:\n    matchExpressions:\n    - jq:\n        key: .a\n        operator: Exist"), "stages.yaml:11: stage tried: spec.selector.matchExpressions[0].jq.operator: is \"Exist\": do you mean Exists?"},
		"an unknown operator":      {stage("  selector:\n    matchExpressions:\n    - key: .a\n      operator: Gt\n      values: ['1']"), `stages.yaml:10: stage tried: spec.selector.matchExpressions[0].operator: is "Gt", but must be one of In, NotIn, Exists, DoesNotExist`},
		"In without values":        {stage("  selector:\n    matchExpressions:\n    - key: .a\n      operator: In"), "stages.yaml:9: stage tried: spec.selector.matchExpressions[0].values: are missing, which In compares with"},
		"Exists with values":       {stage("  selector:\n    matchExpressions:\n    - key: .a\n      operator: Exists\n      values: [a]"), "stages.yaml:11: stage tried: spec.selector.matchExpressions[0].values: mean nothing to Exists"},
		"no key":                   {stage("  selector:\n    matchExpressions:\n    - jq: {operator: Exists}"), "stages.yaml:9: stage tried: spec.selector.matchExpressions[0].jq.key: is missing"},
		"an empty expression":      {stage("  selector:\n    matchExpressions:\n    - {}"), "stages.yaml:9: stage tried: spec.selector.matchExpressions[0]: is empty"},
		"jq and cel":               {stage("  selector:\n    matchExpressions:\n    - jq: {key: .a, operator: Exists}\n      cel: {expression: 'true'}"), "stages.yaml:9: stage tried: spec.selector.matchExpressions[0]: has jq and cel"},
		"jq and a key":             {stage("  selector:\n    matchExpressions:\n    - jq: {key: .a, operator: Exists}\n      key: .b"), "stages.yaml:9: stage tried: spec.selector.matchExpressions[0]: has key, operator or values besides"},
		"bad jq":                   {stage("  selector:\n    matchExpressions:\n    - key: '.a['\n      operator: Exists"), "stages.yaml:9: stage tried: spec.selector.matchExpressions[0].key: no jq: unexpected EOF"},
		"an unknown jq function":   {stage(anything + "  weightFrom: {expressionFrom: much}"), "stages.yaml:8: stage tried: spec.weightFrom.expressionFrom: no jq: function not defined: much/0"},
		"bad CEL":                  {stage("  selector:\n    matchExpressions:\n    - cel:\n        expression: self.status.phase ="), "stages.yaml:10: stage tried: spec.selector.matchExpressions[0].cel.expression: no CEL: ERROR"},
		"a field no pod has":       {stage("  selector:\n    matchExpressions:\n    - cel:\n        expression: self.status.phaze == ''"), "stages.yaml:10: stage tried: spec.selector.matchExpressions[0].cel.expression: no CEL: ERROR: <input>:1:12: undefined field 'phaze'"},
		"CEL that is no bool":      {stage("  selector:\n    matchExpressions:\n    - cel:\n        expression: self.status.phase"), "has a string as its result, but must have bool"},
		"a time as a duration":     {stage(anything + "  delay:\n    durationFrom: {cel: {expression: Now()}}"), "stages.yaml:9: stage tried: spec.delay.durationFrom.cel.expression: has a google.protobuf.Timestamp as its result, but must have google.protobuf.Duration or string"},
		"CEL for the jitter":       {stage(anything + "  delay:\n    jitterDurationFrom: {cel: {expression: '1'}}"), "stages.yaml:9: stage tried: spec.delay.jitterDurationFrom.cel: is not read by KWOK"},
		"from two expressions":     {stage(anything + "  weightFrom: {expressionFrom: .a, jq: {expression: .b}}"), "stages.yaml:8: stage tried: spec.weightFrom: has more than one of jq, cel and expressionFrom"},
		"from nothing":             {stage(anything + "  weightFrom: {}"), "stages.yaml:8: stage tried: spec.weightFrom: is empty"},
		"an empty step":            {stage(anything + "  steps:\n  - {}"), "stages.yaml:9: stage tried: spec.steps[0]: is empty"},
		"a patch that is not sent": {stage(anything + "  steps:\n  - delete: true\n    patch: {template: 'a: b'}"), "stages.yaml:9: stage tried: spec.steps[0]: deletes the object"},
		"a step after the end":     {stage(anything + "  steps:\n  - delete: true\n  - patch: {template: 'a: b'}"), "stages.yaml:10: stage tried: spec.steps[1]: is not done by KWOK"},
		"a bad template":           {stage(anything + "  steps:\n  - patch:\n      template: '{{ .a'"), "stages.yaml:10: stage tried: spec.steps[0].patch.template: no template: :1: unclosed action"},
		"an unknown function":      {stage(anything + "  steps:\n  - patch:\n      template: '{{ Nows }}'"), `stages.yaml:10: stage tried: spec.steps[0].patch.template: no template: :1: function "Nows" not defined`},
		"a function of pods":       {stageOf("v1", "Node", anything+"  steps:\n  - patch:\n      template: '{{ PodIP }}'"), `stages.yaml:10: stage tried: spec.steps[0].patch.template: no template: :1: function "PodIP" not defined`},
		"no template":              {stage(anything + "  steps:\n  - patch: {root: status}"), "stages.yaml:9: stage tried: spec.steps[0].patch.template: is missing"},
		"an unknown patch":         {stage(anything + "  steps:\n  - patch: {template: 'a: b', type: apply}"), `stages.yaml:9: stage tried: spec.steps[0].patch.type: is "apply", but must be one of json, merge, strategic`},
		"an unknown apply":         {stage(anything + "  steps:\n  - apply: {template: 'a: b', type: json}"), `stages.yaml:9: stage tried: spec.steps[0].apply.type: is "json", but must be one of apply, merge, strategic`},
		"strategic for others":     {stageOf("example.com/v1", "Thing", anything+"  steps:\n  - patch: {template: 'a: b', type: strategic}"), "stages.yaml:9: stage tried: spec.steps[0].patch.type: is strategic, which there is for Kubernetes' own kinds alone"},
		"nobody to impersonate":    {stage(anything + "  steps:\n  - patch: {template: 'a: b', impersonation: {}}"), "stages.yaml:9: stage tried: spec.steps[0].patch.impersonation.username: is missing"},
		"who applies for a pod":    {stage(anything + "  steps:\n  - apply: {template: 'a: b', impersonation: {username: me}}"), "stages.yaml:9: stage tried: spec.steps[0].apply.impersonation: is not read by KWOK in stages of Pods"},
		"an event of no type":      {stage(anything + "  steps:\n  - event: {type: normal}"), `stages.yaml:9: stage tried: spec.steps[0].event.type: is "normal": do you mean Normal?`},
		"no finalizers":            {stage(anything + "  steps:\n  - finalizers: {}"), "stages.yaml:9: stage tried: spec.steps[0].finalizers: are empty"},
		"an empty finalizer":       {stage(anything + "  steps:\n  - finalizers:\n      add:\n      - {}"), "stages.yaml:11: stage tried: spec.steps[0].finalizers.add[0]: has no value"},
		"a status that is not set": {stage(anything + "  next:\n    patches: [{template: 'a: b'}]\n    statusTemplate: 'a: b'"), "stages.yaml:10: stage tried: spec.next.statusTemplate: is not read by KWOK where there are patches"},
		"a bad status template":    {stage(anything + "  next:\n    statusTemplate: '{{ end }}'"), "stages.yaml:9: stage tried: spec.next.statusTemplate: no template: :1: unexpected {{end}}"},
		"nobody's status":          {stage(anything + "  next:\n    delete: true\n    statusPatchAs: {username: me}"), "stages.yaml:10: stage tried: spec.next.statusPatchAs: is about the statusTemplate, and there is none"},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := Read(Source{"stages.yaml", []byte(c.text)})
			if err == nil {
				t.Fatalf("it was read: %+v", set)
			}
			if !strings.HasPrefix(err.Error(), c.want) && (c.want[0] == 's' || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestAllMistakesOfAllFilesAreTold(t *testing.T) {
	_, err := Read(
		Source{"a.yaml", []byte(stage(anything+"  weight: -1") + "---\n" + strings.Replace(stage(anything+"  weight: x"), "tried", "other", 1))},
		Source{"b.yaml", []byte(stage(anything))},
	)
	want := `3 mistakes
  a.yaml:8: stage tried: spec.weight: must not be negative
  a.yaml:17: stage other: spec.weight: is text, but must be a number
  b.yaml:4: stage tried: metadata.name: is the name of the stage of a.yaml:1, too: give it another one, or take one of the two away`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestListsAreRead(t *testing.T) {
	item := func(name string) string {
		return "- apiVersion: kwok.x-k8s.io/v1alpha1\n  kind: Stage\n  metadata: {name: " + name + ", resourceVersion: '1'}\n" +
			"  spec: {resourceRef: {kind: Pod}, selector: {}, steps: [{delete: true}]}\n  status: {conditions: []}\n"
	}
	for _, list := range []string{"apiVersion: v1\nkind: List\n", "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: StageList\n"} {
		set := read(t, list+"items:\n"+item("a")+item("b"))
		if found := set.Of(Pods); len(found) != 2 || found[1].Name != "b" || found[1].Where != "stages.yaml:9" {
			t.Errorf("stages %+v", found)
		}
		_, err := Read(Source{"stages.yaml", []byte(list + "items:\n" + item("a") + strings.Replace(item("b"), "steps", "stops", 1))})
		if want := `stages.yaml:12: stage b: items[1].spec.stops: unknown field: do you mean "steps"?`; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestWhatMeansNothingIsRemarkedOn(t *testing.T) {
	for _, c := range [][2]string{
		{stage("  steps: [{delete: true}]"), "stages.yaml:5: stage tried: spec.selector: is missing, and so the stage matches nothing, as in KWOK; write {} for all objects"},
		{stage(anything), "stages.yaml:5: stage tried: spec.steps: are missing, and so the stage does nothing, as in KWOK"},
		{stage(anything + "  steps: [{delete: true}]\n  next: {delete: true}"), "stages.yaml:9: stage tried: spec.next: is not read, as in KWOK, since there are steps"},
	} {
		if remarks := read(t, c[0]).Remarks(); len(remarks) != 1 || remarks[0].String() != c[1] {
			t.Errorf("got  %v\nwant %s", remarks, c[1])
		}
	}
}

func TestTheExampleIsRead(t *testing.T) {
	const file = "../../docs/stages.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set, err := Read(Source{filepath.Base(file), text})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Of(Pods)) != 4 || len(set.Of(Nodes)) != 2 || len(set.Remarks()) > 0 {
		t.Errorf("%v, remarks %v", set.Kinds(), set.Remarks())
	}
}

// FuzzRead looks for a file that cannot even be refused.
func FuzzRead(f *testing.F) {
	f.Add(stage(anything + "  steps: [{patch: {template: '{{ Now }}'}}]"))
	f.Add(stage("  selector: {matchExpressions: [{jq: {key: '.a', operator: In, values: [a]}}, {cel: {expression: 'true'}}]}"))
	f.Add("kind: List\napiVersion: v1\nitems: [1, {kind: Stage}]")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := Read(Source{"fuzzed", []byte(text)})
		if (set == nil) == (err == nil) {
			t.Errorf("%v, %v", set, err)
		}
	})
}
