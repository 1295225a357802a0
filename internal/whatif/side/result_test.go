package side

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestReadRefusesFilesThatAreNoResults(t *testing.T) {
	var packed bytes.Buffer
	to := gzip.NewWriter(&packed)
	_, _ = to.Write([]byte(`{"format":4,"pods":[]}`))
	_ = to.Close()
	none := `it is no result of "simulator side", or not all of one`
	const strange = `{"format":4,"nodeNames":["a"],"pods":[{"namespace":"n","name":"p","state":"","attempts":1,"last":{"attempt":{},"scoring":{"nodes":[1]}}}]}`
	for text, want := range map[string]string{
		"":                           none,
		"nodes: []":                  none,
		"{}":                         none,
		`{"format":"x"}`:             none,
		`{"format":4,"pods":[`:       none,
		`{"format":4,"pods":[null]}`: "the file is damaged: a pod is missing",
		`{"format":9}`:               "it is a result of format 9, and this simulator reads format 4",
		packed.String()[:20]:         none,
		strange:                      "the file is damaged: pod n/p: an attempt has nodes that are not listed",
	} {
		path := filepath.Join(t.TempDir(), "result")
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := Read(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+": "+want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}
