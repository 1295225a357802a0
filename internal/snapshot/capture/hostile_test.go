package capture

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestServersWhoseListsDoNotEndAreGivenUp(t *testing.T) {
	const page = `{"apiVersion": "v1", "kind": "%s", "metadata": {"continue": "%s"}, "items": []}`
	const expired = `{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 410, "reason": "Expired", "metadata": {"continue": "same"}}`
	const busy = `{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 429, "reason": "TooManyRequests", "message": "busy"}`
	for name, tt := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"the same token":       {http.StatusOK, fmt.Sprintf(page, "NamespaceList", "same"), "list namespaces: the server's list does not end: page 2 continues with a page that it has sent before"},
		"always a newer start": {http.StatusGone, expired, "list namespaces: the server's list does not end: page 2 continues with a page that it has sent before"},
		"a wait of an hour":    {http.StatusTooManyRequests, busy, "the server answers 429 Too Many Requests, and asks to wait 1h0m0s: try again then"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if tt.status == http.StatusTooManyRequests {
					w.Header().Set("Retry-After", "3600")
				}
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
			}))
			defer server.Close()
			file := testkit.TempFile(t, "kubeconfig", fmt.Sprintf(`{current-context: c, contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: '%s'}}]}`, server.URL))
			ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
			defer cancel()
			_, err := Read(ctx, Options{Kubeconfig: file})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
