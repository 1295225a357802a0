package extender_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
)

// refused checks that an answer is a refusal with a status and a message.
func refused(t *testing.T, what string, status int, answer, contentType string, wantStatus int, wantMessage string) {
	t.Helper()
	var refusal struct{ Error string }
	if err := json.Unmarshal([]byte(answer), &refusal); err != nil {
		t.Errorf("%s: %v: %s", what, err, answer)
	}
	if status != wantStatus || !strings.Contains(refusal.Error, wantMessage) || contentType != "application/json" {
		t.Errorf("%s: status %d, %s: %q; want %d: %q", what, status, contentType, refusal.Error, wantStatus, wantMessage)
	}
}

func refusedBy(t *testing.T, what string, handler http.Handler, r *http.Request, wantStatus int, wantMessage string) *httptest.ResponseRecorder {
	t.Helper()
	w := answer(handler, r)
	refused(t, what, w.Code, w.Body.String(), w.Header().Get("Content-Type"), wantStatus, wantMessage)
	return w
}

func TestExtenderRejectsAHeaderThatIsTooLarge(t *testing.T) {
	e := start(t, loadConfig(t, ""))
	response, err := http.ReadResponse(bufio.NewReader(slowly(t, e.Address, header+"X: "+strings.Repeat("x", 64<<10)+"\r\n\r\n")), nil)
	testkit.Must(t, err)
	if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge || !response.Close {
		t.Errorf("status %d, the connection is closed: %v", response.StatusCode, response.Close)
	}
}

func TestExtenderRejectsBodiesThatAreTooLarge(t *testing.T) {
	handler := newExtender(t, configure(t, "limits: {buffers: 64Ki}")).Handler()
	for announced, body := range map[bool]io.Reader{
		true:  bytes.NewReader(make([]byte, 64<<10+1)),
		false: io.MultiReader(bytes.NewReader(make([]byte, 64<<10+1))),
	} {
		refusedBy(t, fmt.Sprintf("too large, announced: %v", announced), handler, httptest.NewRequest("POST", "/filter", body), http.StatusRequestEntityTooLarge, "more than 65536 bytes: raise limits.buffers,")
	}
}

func TestExtenderRejectsTooManyRequests(t *testing.T) {
	letGo := hold(t)
	e := start(t, configure(t, "limits: {buffers: 96Ki}\nalgorithm: test-waits"))
	body := corpus.Names("", 3)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			status, answer, err := e.send(http.DefaultClient, "/filter", body)
			if status != http.StatusOK || err != nil {
				t.Errorf("a request within the limit: %d %s %v", status, answer, err)
			}
		})
	}
	testkit.EventuallyHolds(t, "two requests to be on their way", func() bool { return waiting.Load() == 2 })
	w := refusedBy(t, "the third", e.Handler(), httptest.NewRequest("POST", "/filter", bytes.NewReader(body)), http.StatusTooManyRequests, "the requests in flight take all the memory of limits.buffers")
	if w.Header().Get("Retry-After") == "" {
		t.Error("nothing says when to try again")
	}
	letGo()
	all.Wait()
	testkit.EventuallyHolds(t, "room for another after they are done", func() bool { return post(e.Handler(), "/filter", body).Code == http.StatusOK })
}

// slowly opens a connection and sends the beginning of a request.
func slowly(t *testing.T, address, beginning string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	testkit.Must(t, err)
	t.Cleanup(func() { c.Close() })
	testkit.Must(t, c.SetDeadline(time.Now().Add(patience)))
	_, err = io.WriteString(c, beginning)
	testkit.Must(t, err)
	return c
}

const header = "POST /filter HTTP/1.1\r\nHost: extender\r\nContent-Type: application/json\r\n"

func TestExtenderCutsOffClientsWhoseHeaderTakesTooLong(t *testing.T) {
	e := start(t, configure(t, "timeouts: {read: 100ms}"))
	for _, beginning := range []string{"", "POST /fil", header} {
		answer, err := io.ReadAll(slowly(t, e.Address, beginning))
		if err != nil || len(answer) > 0 && !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
			t.Errorf("%q: got %q, %v; want an end, at most with a 400", beginning, answer, err)
		}
	}
}

// 1,100 clients send a byte now and then, and four do not read their answers.
func TestExtenderAnswersBesideSlowClients(t *testing.T) {
	c := loadConfig(t, "")
	c.Timeouts.Read.Duration = patience // the slow ones are slow until the end, however long the others take
	e := start(t, c)
	var slow []net.Conn
	for i := range 1100 {
		announced := []int{1000, 150_000, 32 << 20}[i%3]
		slow = append(slow, slowly(t, e.Address, header+fmt.Sprintf("Content-Length: %d\r\n\r\n{", announced)))
	}
	large := corpus.Full("kubecon-.*", 2000) // 12 MB, more than the kernel buffers
	for range 4 {
		c := slowly(t, e.Address, header+fmt.Sprintf("Content-Length: %d\r\n\r\n", len(large)))
		testkit.Must(t, c.(*net.TCPConn).SetReadBuffer(4096))
		_, err := c.Write(large)
		testkit.Must(t, err)
	}
	testkit.EventuallyHolds(t, "all to be in flight", func() bool { return inFlight(t, e) >= 1104 })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for range 900 { // fewer than the shortest body has
			for _, c := range slow {
				if ctx.Err() != nil {
					return
				}
				_, _ = c.Write([]byte(" "))
			}
		}
	}()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}, Timeout: patience}
	defer client.CloseIdleConnections()
	var all sync.WaitGroup
	for _, body := range [][]byte{corpus.Full("kubecon-.*", 500), corpus.Names("kubecon-.*", 5000)} {
		for range 4 {
			all.Go(func() {
				for range 50 {
					status, answer, err := e.send(client, "/filter", body)
					if err != nil || status != http.StatusOK {
						t.Errorf("beside slow clients: %d %.100s %v", status, answer, err)
					}
				}
			})
		}
	}
	all.Wait()
	n := inFlight(t, e)
	if n < 1100 {
		t.Errorf("only %d slow requests were in flight at the end", n)
	}
}

// The slow clients hold nearly all memory until timeouts.read.
func TestExtenderRejectsSlowClientsAndTakesTheirMemoryBack(t *testing.T) {
	e := start(t, configure(t, "limits: {buffers: 9Mi}\ntimeouts: {read: 2s}"))
	var slow []net.Conn
	for range 4 { // 2 MiB and some for each
		slow = append(slow, slowly(t, e.Address, header+fmt.Sprintf("Content-Length: %d\r\n\r\n%s", 4<<20, strings.Repeat(" ", 300<<10))))
	}
	for _, c := range slow {
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		testkit.Must(t, err)
		answer, err := io.ReadAll(response.Body)
		testkit.Must(t, err)
		refused(t, "a slow client", response.StatusCode, string(answer), response.Header.Get("Content-Type"), http.StatusRequestTimeout, "took longer to arrive than timeouts.read")
		if !response.Close {
			t.Error("the connection is kept")
		}
	}
	testkit.EventuallyHolds(t, "room for another request", func() bool {
		status, answer, err := e.send(http.DefaultClient, "/filter", corpus.Names("kubecon-.*", 5000))
		if err != nil || status != http.StatusOK && status != http.StatusTooManyRequests {
			t.Fatalf("another request: %d %.200s %v", status, answer, err)
		}
		return status == http.StatusOK
	})
}

func inFlight(t *testing.T, e running) (requests int) {
	t.Helper()
	_, after, _ := strings.Cut(get(e.Handler(), "/metrics").Body.String(), "\nextender_requests_in_flight ")
	_, err := fmt.Sscan(after, &requests)
	testkit.Must(t, err)
	return requests
}
