package deploy

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// inDocs are folders that docs/deploy.md tells the reader to apply.
var inDocs = regexp.MustCompile("deploy/([a-z-]+(?:/[a-z-]+)?)(?:[` \n]|$)")

func TestDocumentNamesEveryFolder(t *testing.T) {
	named := map[string]bool{}
	for _, match := range inDocs.FindAllStringSubmatch(string(testkit.ReadFile(t, "../docs/deploy.md")), -1) {
		named[match[1]] = true
	}
	folders := foldersWithKustomization(t)
	for folder := range named {
		if !slices.Contains(folders, folder) && folder != "static-pods" && folder != "chart" { // which are for a kubelet, and for Helm
			t.Errorf("deploy/%s is in the document only", folder)
		}
	}
	for _, folder := range folders {
		if !named[folder] && folder != "scheduler/base" { // it has no configuration
			t.Errorf("deploy/%s is not in the document", folder)
		}
	}
}

// TestWayBackLeavesNothing holds all objects of all folders and components against the commands of the document.
func TestWayBackLeavesNothing(t *testing.T) {
	_, section, _ := strings.Cut(string(testkit.ReadFile(t, "../docs/deploy.md")), "## Back to a clean state\n")
	section, _, _ = strings.Cut(section, "\n## ")
	deleted := map[string]bool{} // kinds in a namespace, by the label of all that is ours
	for _, line := range regexp.MustCompile(`(?m)^ +kubectl (?:-n (\S+) )?delete (\S+) -l app.kubernetes.io/part-of=`+namespace).FindAllStringSubmatch(section, -1) {
		for kind := range strings.SplitSeq(line[2], ",") {
			deleted[line[1]+"/"+kind] = true
		}
	}
	all := mustRenderBeside(t, "resources: [../deploy/scheduler/native]\ncomponents: ["+
		"../deploy/scheduler/components/decisions, ../deploy/scheduler/components/default-scheduler, ../deploy/scheduler/components/servicemonitor]")
	for _, folder := range foldersWithKustomization(t) {
		all = append(all, mustRender(t, folder)...)
	}
	for _, object := range all {
		where := object.GetNamespace() + "/" + strings.ToLower(object.GetKind())
		selected := deleted[where] && object.GetLabels()["app.kubernetes.io/part-of"] == namespace
		if object.GetNamespace() != namespace && object.GetKind() != "Namespace" && !selected {
			t.Errorf("%s %s is left", where, object.GetName())
		}
	}
}

// fragments are the indented blocks of a page that are YAML.
func fragments(t *testing.T, page string) (found []string) {
	t.Helper()
	data := testkit.ReadFile(t, page)
	for _, block := range regexp.MustCompile(`(?m)(?:^(?:    .*)?\n)+`).FindAllString(string(data)+"\n", -1) {
		text := regexp.MustCompile(`(?m)^    `).ReplaceAllString(strings.Trim(block, "\n"), "")
		if _, rest, ok := strings.Cut(text, "<<'END'\n"); ok {
			text, _, _ = strings.Cut(rest, "\nEND")
		}
		if regexp.MustCompile(`\A(#.*\n)*(  )*[a-zA-Z]+:( |\n)`).MatchString(text) {
			found = append(found, text)
		}
	}
	return found
}

// TestDocumentsFragmentsAreGood tries every fragment of YAML that a reader may
// paste: a configuration of the scheduler as the scheduler does, an object at the
// API server, a kustomization by rendering it.
func TestDocumentsFragmentsAreGood(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	testkit.Must(t, err)
	tried := map[string]int{}
	for _, page := range append(pages, "../README.md") {
		for _, text := range fragments(t, page) {
			kind, err := try(t, text)
			if err != nil {
				t.Errorf("%s: %v, of\n%s", page, err, text)
			}
			tried[kind]++
		}
	}
	if tried["scheduler"] < 5 || tried["object"] < 1 || tried["kustomization"] < 3 {
		t.Errorf("only %v were found", tried)
	}
}

func try(t *testing.T, text string) (kind string, err error) {
	t.Helper()
	var content map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &content); err != nil {
		return "", err
	}
	switch {
	case content["kind"] == "KubeSchedulerConfiguration", content["extenders"] != nil, content["profiles"] != nil:
		return "scheduler", trySchedulerConfig(text, content)
	case content["resources"] != nil, content["patches"] != nil:
		return "kustomization", tryKustomization(t, content)
	case content["apiVersion"] == "nfd.k8s-sigs.io/v1alpha1", content["apiVersion"] == "cert-manager.io/v1": // whose CustomResourceDefinitions are not here
		return "foreign", nil
	case content["kind"] != nil:
		return "object", apply(t.Context(), &unstructured.Unstructured{Object: named(content)}, metav1.DryRunAll)
	}
	return "other", nil
}

func named(object map[string]any) map[string]any {
	u := &unstructured.Unstructured{Object: object}
	if u.GetNamespace() == "" {
		u.SetNamespace("default")
	}
	return object
}

// trySchedulerConfig decodes and validates as kube-scheduler does. An extender that
// is asked for nothing is a mistake too.
func trySchedulerConfig(text string, content map[string]any) error {
	if content["kind"] == nil { // a part, for a configuration that is there
		text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + text
	}
	decoded, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	if err != nil {
		return err
	}
	c := decoded.(*schedulerconfig.KubeSchedulerConfiguration)
	for _, e := range c.Extenders {
		if e.FilterVerb == "" && e.PrioritizeVerb == "" {
			return fmt.Errorf("extender %s has neither filterVerb nor prioritizeVerb", e.URLPrefix)
		}
		if e.PreemptVerb == "" {
			return fmt.Errorf("extender %s has no preemptVerb: who copies that has pods preempted on nodes that a regex does not match", e.URLPrefix)
		}
		if e.Ignorable {
			return fmt.Errorf("extender %s is ignorable: who copies that has pods placed without their regex", e.URLPrefix)
		}
	}
	if errs := validation.ValidateKubeSchedulerConfiguration(c); errs != nil {
		return errs
	}
	return nil
}

// tryKustomization renders it beside deploy/. What only patches stands for a part
// of one with the extender's load. Each of its images has to be used.
func tryKustomization(t *testing.T, content map[string]any) error {
	if content["resources"] == nil {
		content["resources"] = []string{"../deploy/extender/load"}
	}
	text, err := yaml.Marshal(content)
	testkit.Must(t, err)
	rendered, err := renderBeside(t, string(text))
	var all strings.Builder
	for _, object := range rendered {
		if err == nil {
			err = apply(t.Context(), object, metav1.DryRunAll)
		}
		fmt.Fprintln(&all, object.Object)
	}
	images, _ := content["images"].([]any)
	for _, image := range images {
		tag := fmt.Sprintf(":%v ", image.(map[string]any)["newTag"])
		if err == nil && !strings.Contains(all.String(), tag) {
			err = fmt.Errorf("no container has the image %v", image)
		}
	}
	return err
}
