package digest_test

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/anonymize"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/digest"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// everything has a field of each sort in which something private may be.
func everything(t *testing.T) *snapshot.Snapshot {
	t.Helper()
	file, err := os.Open("testdata/everything.yaml")
	testkit.Must(t, err)
	defer file.Close()
	s, notices, err := snapshot.Read(file)
	if err != nil || len(notices) > 0 {
		t.Fatalf("%v, %v", notices, err)
	}
	s.Source = &snapshot.Source{}
	s.Pods[0].Spec = *s.Deployments[0].Spec.Template.Spec.DeepCopy()
	return s
}

func yamlOf(t *testing.T, s *snapshot.Snapshot) string {
	t.Helper()
	var file bytes.Buffer
	testkit.Must(t, s.WriteYAML(&file))
	return file.String()
}

func TestFileHasNothingPrivate(t *testing.T) {
	s := everything(t)
	testkit.Must(t, digest.Snapshot(s, []string{"plugin.example.com/kept"}))
	text := yamlOf(t, s)
	for line := range strings.Lines(text) {
		if strings.Contains(line, "hush") || strings.Contains(line, "192.0.2.") {
			t.Errorf("it shows %q", line)
		}
	}
	for _, kept := range []string{
		"plugin.example.com/kept: stays", "pv.kubernetes.io/provisioned-by: csi.example.com", "deployment.kubernetes.io/revision: \"2\"", "containerPort: 8080", "periodSeconds: 7", "fieldPath: metadata.name", "port: web",
		"terminationMessagePath: /dev/termination-log", "nodePath-kept", "kubernetes.io/hostname: n1", "type: container_t", "exitCode: 3", "reason: OOMKilled", "currentRevision: db-1",
	} {
		if !strings.Contains(text, kept) {
			t.Errorf("it lacks %q", kept)
		}
	}
}

// TestAnAPIServerTakesDigests: they are valid wherever they stand, and so are other names.
func TestAnAPIServerTakesDigests(t *testing.T) {
	s := everything(t)
	testkit.Must(t, digest.Snapshot(s, nil))
	checkCreated(t, s)
	anonymize.Snapshot(s, nil)
	checkCreated(t, s)
}

func checkCreated(t *testing.T, s *snapshot.Snapshot) {
	t.Helper()
	s = s.DeepCopy() // an API server changes what it gets
	c, err := cluster.New(time.Now)
	testkit.Must(t, err)
	for _, kind := range snapshot.Kinds {
		for o := range kind.All(s) {
			if set, ok := o.(*appsv1.StatefulSet); ok {
				set.Status = appsv1.StatefulSetStatus{}
			}
			if _, err := c.Create(t.Context(), o); err != nil {
				t.Errorf("%s %s: %v", kind.Title, o.GetName(), err)
			}
		}
	}
}

// TestDigestsTellEqualFromOther: a manifest that is replaced as the file was is what it was in the file, and what is changed in it is changed.
func TestDigestsTellEqualFromOther(t *testing.T) {
	s, manifest := everything(t), everything(t)
	testkit.Must(t, digest.Snapshot(s, nil))
	template := func(s *snapshot.Snapshot) *v1.PodTemplateSpec { return &s.Deployments[0].Spec.Template }
	of := func(change func(*v1.PodTemplateSpec)) *v1.PodTemplateSpec {
		o := manifest.Deployments[0].DeepCopy()
		change(&o.Spec.Template)
		testkit.Must(t, digest.Object(o, s.Source.Digests))
		return &o.Spec.Template
	}
	if !equality.Semantic.DeepEqual(template(s), of(func(*v1.PodTemplateSpec) {})) {
		t.Error("the same template has other digests")
	}
	for name, change := range map[string]func(*v1.PodTemplateSpec){
		"a variable":    func(t *v1.PodTemplateSpec) { t.Spec.Containers[0].Env[0].Value += "x" },
		"a command":     func(t *v1.PodTemplateSpec) { t.Spec.Containers[0].Command[0] = "other" },
		"an order":      func(t *v1.PodTemplateSpec) { a := t.Spec.Containers[0].Args; a[0], a[1] = a[1], a[0] },
		"a ConfigMap":   func(t *v1.PodTemplateSpec) { t.Spec.Volumes[0].ConfigMap.Name = "other" },
		"an annotation": func(t *v1.PodTemplateSpec) { t.Annotations["checksum/config"] = "other" },
		"an address":    func(t *v1.PodTemplateSpec) { t.Spec.HostAliases[0].IP = "192.0.2.9" },
		"a probe":       func(t *v1.PodTemplateSpec) { t.Spec.Containers[0].LivenessProbe.HTTPGet.Path = "/other" },
	} {
		if equality.Semantic.DeepEqual(template(s), of(change)) {
			t.Errorf("%s is changed, and the template has the same digests", name)
		}
	}
	again := everything(t)
	testkit.Must(t, digest.Snapshot(again, nil))
	if equality.Semantic.DeepEqual(template(s), template(again)) {
		t.Error("two files have the same digests")
	}
}

// TestRevisionsFollowTheirTemplates: controllers compare a revision, byte by byte, with what they would keep of the set.
func TestRevisionsFollowTheirTemplates(t *testing.T) {
	s := everything(t)
	testkit.Must(t, digest.Snapshot(s, nil))
	read, _, err := snapshot.Read(strings.NewReader(yamlOf(t, s)))
	testkit.Must(t, err)
	template, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&read.StatefulSets[0].Spec.Template)
	testkit.Must(t, err)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&read.ControllerRevisions[0])
	testkit.Must(t, err)
	of := content["data"].(map[string]any)["spec"].(map[string]any)["template"].(map[string]any)
	if of["$patch"] != "replace" {
		t.Errorf("it is no patch: %v", of)
	}
	delete(of, "$patch")
	if !reflect.DeepEqual(of, template) {
		t.Errorf("the revision has\n%v\nthe set\n%v", of, template)
	}
	applied := read.Deployments[0].Annotations[v1.LastAppliedConfigAnnotation]
	value := read.Deployments[0].Spec.Template.Spec.Containers[0].Env[0].Value
	if !strings.Contains(applied, fmt.Sprintf(`"value":%q`, value)) || !strings.Contains(applied, `"kind":"Deployment"`) {
		t.Errorf("the variable is %s, and what was applied %s", value, applied)
	}
}

// TestDefaultsAreNoneInOtherFields: a password may be a word that an API server sets in another field.
func TestDefaultsAreNoneInOtherFields(t *testing.T) {
	for _, word := range []string{"/", "/dev/termination-log", "v1", "default", "admin", "/etc/ceph/keyring", "rbd", "ext4", "xfs", "ThinProvisioned"} {
		pod := &v1.Pod{Spec: v1.PodSpec{
			ServiceAccountName: "default",
			Containers:         []v1.Container{{Command: []string{word}, Env: []v1.EnvVar{{Name: "PASSWORD", Value: word}}, TerminationMessagePath: v1.TerminationMessagePathDefault}},
		}}
		testkit.Must(t, digest.Object(pod, &snapshot.Digests{Key: []byte("k")}))
		c := pod.Spec.Containers[0]
		if c.Env[0].Value == word || c.Command[0] == word || c.TerminationMessagePath != v1.TerminationMessagePathDefault || pod.Spec.ServiceAccountName != "default" {
			t.Errorf("%s: %+v", word, pod.Spec)
		}
	}
}

// TestDefaultsHaveNoDigests: a manifest lacks them, and what an API server has stored of it has them.
func TestDefaultsHaveNoDigests(t *testing.T) {
	digests := regexp.MustCompile(`x\d{20}`)
	var set func(reflect.Value)
	set = func(v reflect.Value) { // allocates all that may have a default
		switch v.Kind() {
		case reflect.Pointer:
			if v.Type().Elem().Kind() == reflect.Struct {
				v.Set(reflect.New(v.Type().Elem()))
				set(v.Elem())
			}
		case reflect.Slice:
			if v.Type().Elem().Kind() == reflect.Struct {
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
				set(v.Index(0))
			}
		case reflect.Struct:
			if v.Type() == reflect.TypeFor[metav1.FieldsV1]() || v.Type() == reflect.TypeFor[metav1.Time]() || v.Type() == reflect.TypeFor[metav1.ObjectMeta]() {
				return
			}
			for i := range v.NumField() {
				if v.Field(i).CanSet() {
					set(v.Field(i))
				}
			}
		}
	}
	for _, kind := range snapshot.Kinds {
		o := kind.Example()
		set(reflect.ValueOf(o).Elem())
		legacyscheme.Scheme.Default(o)
		testkit.Must(t, digest.Object(o, &snapshot.Digests{Key: []byte("k")}))
		s := &snapshot.Snapshot{}
		reflect.ValueOf(s).Elem().FieldByNameFunc(func(name string) bool {
			return reflect.ValueOf(s).Elem().FieldByName(name).Type() == reflect.SliceOf(reflect.TypeOf(o).Elem())
		}).Set(reflect.Append(reflect.MakeSlice(reflect.SliceOf(reflect.TypeOf(o).Elem()), 0, 1), reflect.ValueOf(o).Elem()))
		for line := range strings.Lines(yamlOf(t, s)) {
			if digests.MatchString(line) {
				t.Errorf("%s: a default has a digest: %s", kind.Title, line)
			}
		}
	}
}
