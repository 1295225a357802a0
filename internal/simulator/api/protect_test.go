package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
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
		hosts  []string
		want   int
	}{
		{"a program on this machine", "GET localhost:3000/api/v1/export", nil, nil, 200},
		{"by IPv6 address", "PUT [::1]:3000/api/v1/reset", nil, nil, 200},
		{"the page itself", "PUT localhost:3000/api/v1/reset", header{"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-origin"}, nil, 200},
		{"a name that someone else owns, as in DNS rebinding", "GET evil.example:3000/", nil, nil, 403},
		{"no name", "GET /", nil, nil, 403},
		{"an address of the network, unless given", "GET 192.0.2.1:3000/", nil, nil, 403},
		{"an address of the network, if given", "GET 192.0.2.1:3000/", nil, []string{"192.0.2.1"}, 200},
		{"any address, if all are listened on", "GET 192.0.2.1:3000/", nil, []string{"0.0.0.0"}, 200},
		{"any name, even then", "GET evil.example:3000/", nil, []string{"0.0.0.0"}, 403},
		{"a name with the dot of DNS, if given", "GET laptop.example.:3000/", nil, []string{"laptop.example"}, 200},
		{"a form of another site", "POST localhost:3000/api/v1/import", header{"Origin": "https://evil.example"}, nil, 403},
		{"a script of another site that only reads", "GET localhost:3000/api/v1/export", header{"Origin": "https://evil.example"}, nil, 403},
		{"a sandboxed page", "POST localhost:3000/api/v1/import", header{"Origin": "null"}, nil, 403},
		{"an image of another site, which has no origin", "GET localhost:3000/api/v1/export", header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, nil, 403},
		{"a link to the page", "GET localhost:3000/", header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, nil, 200},
		{"a link to the API", "GET localhost:3000/api/v1/export", header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, nil, 403},
		{"an address typed into a browser", "GET localhost:3000/", header{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, nil, 200},
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
			Protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), test.hosts...).ServeHTTP(w, r)
			if w.Code != test.want {
				t.Errorf("got %d %s, want %d", w.Code, w.Body, test.want)
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

func TestErrorForARejectedHostSaysWhatToDo(t *testing.T) {
	for host, want := range map[string]string{
		"evil.example:3000": `host "evil.example:3000" is not this simulator's: use localhost or laptop, or start the simulator with --listen=evil.example`,
		"192.0.2.1":         `host "192.0.2.1" is not this simulator's: use localhost or laptop, or start the simulator with --listen=192.0.2.1`,
		"":                  `host "" is not this simulator's: use localhost or laptop`,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		Protect(http.NotFoundHandler(), "127.0.0.1", "laptop").ServeHTTP(w, r)
		var answer struct{ Message string }
		err := json.Unmarshal(w.Body.Bytes(), &answer)
		if err != nil || answer.Message != want {
			t.Errorf("got  %s (%v)\nwant %s", answer.Message, err, want)
		}
	}
}

// TestPublicServerAnswersToItsOwnName, and to no other.
func TestPublicServerAnswersToItsOwnName(t *testing.T) {
	for listen, want := range map[string][]string{
		"127.0.0.1": {"127.0.0.1"},
		"::1":       {"::1"},
		"localhost": {"localhost"},
		"0.0.0.0":   {"0.0.0.0", "laptop.example", "laptop", "laptop.local"},
		"":          {"", "laptop.example", "laptop", "laptop.local"},
		"192.0.2.1": {"192.0.2.1", "laptop.example", "laptop", "laptop.local"},
	} {
		got := namesFor(listen, "Laptop.example")
		if !slices.Equal(got, want) {
			t.Errorf("--listen=%s answers to %q, want %q", listen, got, want)
		}
	}
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
		if response.StatusCode != want {
			t.Errorf("%s: %d, want %d", request.Host, response.StatusCode, want)
		}
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
	if err == nil || !strings.Contains(err.Error(), "--port") || !strings.Contains(err.Error(), "taken") {
		t.Errorf("got %v", err)
	}
}
