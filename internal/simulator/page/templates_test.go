package page

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/compare"
)

// templateTexts are the texts of all templates by their names.
func templateTexts(t *testing.T) map[string]string {
	t.Helper()
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	texts := map[string]string{}
	for _, name := range files {
		raw, err := templateFiles.ReadFile(name)
		testkit.Must(t, err)
		texts[name] = string(raw)
	}
	return texts
}

// The Content-Security-Policy forbids these, so they would silently fail.
func TestNoTemplateHasInlineScriptOrStyle(t *testing.T) {
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|<script>|\son[a-z]+=|javascript:|hx-on`)
	for name, text := range templateTexts(t) {
		found := inline.FindString(text)
		if found != "" && name != "templates/why.html" { // a file of its own, which no server sends
			t.Errorf("%s: %q", name, found)
		}
	}
}

// The keyboard reaches a scrolling region only with a tabindex.
func TestScrollingRegionsHaveTheKeyboardFocus(t *testing.T) {
	texts := templateTexts(t)
	var compared strings.Builder
	testkit.Must(t, compare.Page(&compared, &compare.Result{}, "", time.Time{}))
	texts["the report of a comparison"] = compared.String()
	found := 0
	for name, text := range texts {
		for _, tag := range regexp.MustCompile(`<[^>]*class="scroll"[^>]*>`).FindAllString(text, -1) {
			found++
			if !regexp.MustCompile(`tabindex="0" role="region" aria-label="\w+`).MatchString(tag) {
				t.Errorf("%s: %s", name, tag)
			}
		}
	}
	if found < 5 {
		t.Errorf("%d were found", found)
	}
}

func TestManifestOfEveryKindIsValid(t *testing.T) {
	for _, k := range kinds {
		text, err := k.manifest()
		testkit.Must(t, err)
		docs, problems := readDocuments(text)
		if len(problems) > 0 || docs[0].GetKind() != k.Title || docs[0].GetName() == "" {
			t.Errorf("%s: %v, %v", k.Key(), docs, problems)
		}
	}
}

func TestStartIsShownStepByStep(t *testing.T) {
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
	s.Say("importing the objects")
	s.since = time.Now().Add(-time.Minute)
	s.Progress(500, 2000)
	for path, want := range map[string]string{
		"/":              `500 of 2000 objects, about 3m0s left(?s:.*)<progress value="500" max="2000"`,
		"/api/v1/export": `{"message":"the simulator is starting: imported 500 of 2000 objects"}`,
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if !regexp.MustCompile(want).Match(w.Body.Bytes()) {
			t.Errorf("%s says %s", path, w.Body)
		}
	}
}
