package corpus_test

import (
	"bytes"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
)

func TestCorpusIsDeterministicAndAsLargeAsNodesAre(t *testing.T) {
	body := corpus.Full("kubecon-.*", 100)
	if !bytes.Equal(body, corpus.Full("kubecon-.*", 100)) {
		t.Error("two runs differ")
	}
	// 5,000 nodes are about 31 MB.
	perNode := len(body) / 100
	if perNode < 5900 || perNode > 6500 {
		t.Errorf("a node takes %d bytes, want about 6,200", perNode)
	}
}
