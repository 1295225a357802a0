package page

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/simulator/page/typed"
)

// What the Content-Security-Policy forbids would silently not work.
func TestNoTemplateHasInlineScriptOrStyle(t *testing.T) {
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|<script>|\son[a-z]+=|javascript:|hx-on`)
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		raw, err := templateFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := inline.Find(raw); found != nil {
			t.Errorf("%s: %q", name, found)
		}
	}
}

func TestEveryKindHasAManifest(t *testing.T) {
	for _, k := range kinds {
		text, err := k.manifest()
		if err != nil {
			t.Error(err)
			continue
		}
		var o struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(text), &o); err != nil || o.Kind != k.Title || o.Metadata.Name == "" {
			t.Errorf("%s: %+v, %v", k.Key(), o, err)
		}
	}
}

func TestEveryManifestOfOursIsWithoutMistakes(t *testing.T) {
	for _, k := range kinds {
		text, err := k.manifest()
		if err != nil {
			t.Fatal(err)
		}
		if _, problems := typed.Read(text); len(problems) > 0 {
			t.Errorf("%s: %v", k.Key(), problems)
		}
	}
}

func TestTheStartIsShownStepByStep(t *testing.T) {
	s := NewStarting()
	s.Say("etcd")
	s.Say("kube-apiserver <1.36>")
	for path, want := range map[string]int{"/": 503, "/api/v1/export": 503, "/assets/style.css": 200} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		if path == "/" && !regexp.MustCompile(`done.*etcd(?s:.*)step.*kube-apiserver &lt;1.36&gt;`).Match(w.Body.Bytes()) {
			t.Errorf("the page says %s", w.Body)
		}
	}
}
