package deploy

import (
	"os"
	"regexp"
	"slices"
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
