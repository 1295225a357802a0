package page

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// listOf is pods called namespace/name.
func listOf(names ...string) (pods []*podView) {
	for _, one := range names {
		namespace, name, _ := strings.Cut(one, "/")
		pods = append(pods, &podView{Pod: &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}})
	}
	return pods
}

func namesOf(pods []*podView) string {
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Namespace+"/"+pod.Name)
	}
	return strings.Join(names, " ")
}

func TestFilterTakesTextOrARegexAndANamespace(t *testing.T) {
	pods := listOf("shop/web-1", "shop/web-10", "shop/db(1)", "other/web-2")
	for query, want := range map[string]string{
		"":                 "shop/web-1 shop/web-10 shop/db(1) other/web-2",
		"filter=WEB":       "shop/web-1 shop/web-10 other/web-2",
		"filter=web-[12]$": "shop/web-1 other/web-2",
		"filter=db(1)":     "shop/db(1)",

		"filter=web&namespace=other":    "other/web-2",
		"filter=^web-\\d%2B$|^db":       "shop/web-1 shop/web-10 shop/db(1) other/web-2",
		"namespace=a-namespace-without": "",
	} {
		got := namesOf(keep(newToolbar(httptest.NewRequest(http.MethodGet, "/pods?"+query, nil), "", nil, nil), pods))
		testkit.Equal(t, got, want, "what %s keeps", query)
	}
}

func TestHeadSortsThenReversesThenRestores(t *testing.T) {
	url, pods := "/pods?filter=w&page=3", listOf("b/web-10", "b/web-9", "a/web-10")
	for _, want := range []struct{ order, names string }{
		{"", "b/web-10 b/web-9 a/web-10"},
		{"ascending", "b/web-9 b/web-10 a/web-10"},
		{"descending", "b/web-10 a/web-10 b/web-9"},
		{"", "b/web-10 b/web-9 a/web-10"},
	} {
		tools := newToolbar(httptest.NewRequest(http.MethodGet, url, nil), "", nil, nil)
		sorted := append([]*podView{}, pods...)
		sortPods(sorted, tools.Sort)
		head := tools.Head("Pod", "name")
		if head.Order != want.order || namesOf(sorted) != want.names || strings.Contains(head.URL, "page") || !strings.Contains(head.URL, "filter=w") {
			t.Errorf("%s is sorted %q: %s; the next is %s", url, head.Order, namesOf(sorted), head.URL)
		}
		url = head.URL
	}
}
