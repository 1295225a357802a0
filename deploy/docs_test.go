package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// inDocs are folders that docs/deploy.md tells the reader to apply.
var inDocs = regexp.MustCompile("deploy/([a-z-]+(?:/[a-z-]+)?)(?:[` \n]|$)")

func TestTheDocumentNamesEveryFolder(t *testing.T) {
	text, err := os.ReadFile("../docs/deploy.md")
	must(t, err)
	named := map[string]bool{}
	for _, match := range inDocs.FindAllStringSubmatch(string(text), -1) {
		named[match[1]] = true
	}
	folders := foldersWithKustomization(t)
	for folder := range named {
		if !slices.Contains(folders, folder) {
			t.Errorf("deploy/%s is in the document only", folder)
		}
	}
	for _, folder := range folders {
		if !named[folder] && folder != "scheduler/base" { // it has no configuration
			t.Errorf("deploy/%s is not in the document", folder)
		}
	}
}

// TestTheDocumentNamesTestsThatAreThere looks at the rows about the seeds.
func TestTheDocumentNamesTestsThatAreThere(t *testing.T) {
	text, err := os.ReadFile("../docs/deploy.md")
	must(t, err)
	var source strings.Builder
	for _, pattern := range []string{"*_test.go", "../internal/extender/algorithm/lucky/*_test.go"} {
		files, err := filepath.Glob(pattern)
		must(t, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			must(t, err)
			source.Write(data)
		}
	}
	for _, test := range regexp.MustCompile(`Test[A-Z]\w+`).FindAllString(string(text), -1) {
		if !strings.Contains(source.String(), "func "+test+"(") {
			t.Errorf("there is no %s", test)
		}
	}
}
