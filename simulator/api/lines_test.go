package api

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http/httptest"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// streamed is a line of listwatchresources.
type streamed struct {
	Kind, EventType string
	Obj             struct {
		Metadata struct{ Name, ResourceVersion string }
	}
}

// lines reads a stream.
type lines struct{ r *bufio.Reader }

func newLines(r io.Reader) lines { return lines{bufio.NewReader(r)} }

func (l lines) next(t *testing.T) ([]byte, streamed) {
	t.Helper()
	line, err := l.r.ReadBytes('\n')
	if err != nil {
		t.Fatalf("the stream ends after %q: %v", line, err)
	}
	var e streamed
	if err := json.Unmarshal(line, &e); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return line, e
}

func TestAStreamBeginsAtTheResourceVersionOfTheRequest(t *testing.T) {
	server := httptest.NewServer(Handler(sim, nil))
	defer server.Close()
	client := server.Client()
	client.Timeout = eventually.Patience
	response, err := client.Get(server.URL + base + "listwatchresources")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all := newLines(response.Body)
	for {
		_, e := all.next(t)
		if e.Kind == "namespaces" && e.Obj.Metadata.Name == "default" {
			break
		}
	}
	known, err := client.Get(server.URL + base + "listwatchresources?podslastResourceVersion=1&nodesLastResourceVersion=1" +
		"&pvsLastResourceVersion=1&pvcsLastResourceVersion=1&scsLastResourceVersion=1&namespaceLastResourceVersion=1")
	if err != nil {
		t.Fatal(err)
	}
	defer known.Body.Close()
	if _, e := newLines(known.Body).next(t); e.Kind == "" {
		t.Error("no line")
	}
}
