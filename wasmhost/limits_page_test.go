package wasmhost

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// A number that is new has to be put somewhere on the page.
func TestLimitsAreOnOnePage(t *testing.T) {
	page, err := os.ReadFile("limits.go")
	testkit.Must(t, err)
	constant := regexp.MustCompile(`(?m)^(?:const |\t)(\w+) += (?:.*\b[0-9]+|time\.\w+)(?:[ _].*)?$`)
	found := 0
	for _, folder := range []string{".", "internal/abi", "internal/answers", "internal/compiler", "../fetch", "../fetch/internal/signature"} {
		files, _ := filepath.Glob(folder + "/*.go")
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			testkit.Must(t, err)
			for _, match := range constant.FindAllSubmatch(text, -1) {
				found++
				if !strings.HasPrefix(string(match[1]), "status") && !regexp.MustCompile(`\b`+string(match[1])+`\b`).Match(page) {
					t.Errorf("%s: the constant %s is not in limits.go: is it of the ABI, does it protect, or may one tune it?", file, match[1])
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d constants are found", found)
	}
}
