package version

import (
	"runtime"
	"strings"
	"testing"
)

func TestStringNamesTheBuild(t *testing.T) {
	tag, commit = "v1.2.3", "0123456789ab"
	t.Cleanup(func() { tag, commit = "", "" })
	got := String()
	if !strings.HasPrefix(got, "v1.2.3 of commit 0123456789ab, ") || !strings.HasSuffix(got, runtime.Version()+", "+runtime.GOOS+"/"+runtime.GOARCH) {
		t.Errorf("got %q", got)
	}
}
