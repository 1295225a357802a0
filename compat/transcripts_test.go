package compat

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/compat/scenario"
)

var update = flag.Bool("update", false, "write the transcripts")

// TestTranscriptsAreWhatTheUpstreamHostAnswers runs every scenario again.
func TestTranscriptsAreWhatTheUpstreamHostAnswers(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	files, err := scenario.Files("../testdata/scenarios")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			scenarios, err := scenario.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			got := scenario.Transcript(root, scenarios, start)
			transcript := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(transcript, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(transcript)
			if err != nil {
				t.Fatal(err)
			}
			for _, difference := range scenario.Differences(string(want), got) {
				t.Error(difference)
			}
		})
	}
}
