package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestWhichRequestsAreAllowed(t *testing.T) {
	type header map[string]string
	for _, test := range []struct {
		name   string
		target string
		header header
		want   int
	}{
		{"a program on this machine", "GET localhost:3000/api/v1/export", nil, 200},
		{"by IPv6 address", "PUT [::1]:3000/api/v1/reset", nil, 200},
		{"the page itself", "PUT localhost:3000/api/v1/reset", header{"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-origin"}, 200},
		{"a name that someone else owns, as in DNS rebinding", "GET evil.example:3000/", nil, 403},
		{"no name", "GET /", nil, 403},
		{"an address of the network", "GET 192.0.2.1:3000/", nil, 200},
		{"a name that was given, with the dot of DNS", "GET Laptop.example.:3000/", nil, 200},
		{"a form of another site", "POST localhost:3000/api/v1/import", header{"Origin": "https://evil.example"}, 403},
		{"a sandboxed page", "POST localhost:3000/api/v1/import", header{"Origin": "null"}, 403},
		{"an address typed into a browser", "GET localhost:3000/", header{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			method, rest, _ := strings.Cut(test.target, " ")
			host, path, _ := strings.Cut(rest, "/")
			r := httptest.NewRequest(method, "/"+path, nil)
			r.Host = host
			for name, value := range test.header {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "localhost", "laptop.example").ServeHTTP(w, r)
			if w.Code != test.want {
				t.Errorf("got %d %s, want %d", w.Code, w.Body, test.want)
			}
			if test.want == http.StatusForbidden && !strings.Contains(w.Body.String(), `{"message":"`) {
				t.Errorf("it does not say why: %s", w.Body)
			}
			for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy"} {
				if w.Header().Get(name) == "" {
					t.Errorf("no %s", name)
				}
			}
			if strings.Contains(w.Header().Get("Content-Security-Policy"), "unsafe") {
				t.Error("the policy allows something unsafe")
			}
		})
	}
}

// TestPublicServerAnswersToItsOwnName, and to no other.
func TestPublicServerAnswersToItsOwnName(t *testing.T) {
	name, err := os.Hostname()
	testkit.Must(t, err)
	server, err := Listen("0.0.0.0", 0, "--port", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	testkit.Must(t, err)
	defer server.Stop()
	for host, want := range map[string]int{name: 200, "evil.example": 403} {
		request, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", server.Port()), nil)
		testkit.Must(t, err)
		request.Host = fmt.Sprint(host, ":", server.Port())
		response, err := http.DefaultClient.Do(request)
		testkit.Must(t, err)
		response.Body.Close()
		testkit.Equal(t, response.StatusCode, want, "the status for %s", request.Host)
	}
	if !server.Public() {
		t.Error("it does not know that others reach it")
	}
}

func TestPortThatIsTakenIsNamed(t *testing.T) {
	first, err := Listen("127.0.0.1", 0, "--port", http.NotFoundHandler())
	testkit.Must(t, err)
	defer first.Stop()
	_, err = Listen("127.0.0.1", first.Port(), "--port", http.NotFoundHandler())
	testkit.ErrorHas(t, err, "is taken by another program: stop it, or choose another port with --port")
}
