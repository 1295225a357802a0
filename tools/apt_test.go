package tools

import (
	"os"
	"strings"
	"testing"
)

func TestPackagesAreInstalledOnlyWhereThatIsAsked(t *testing.T) {
	for environment, installs := range map[string]bool{"CI= INSTALL=": false, "CI=true INSTALL=": true, "CI= INSTALL=1": true} {
		c := checkout{root: t.TempDir(), path: t.TempDir()}
		for _, name := range []string{"bash", "env", "id", "sh"} {
			c.link(t, name)
		}
		must(t, os.CopyFS(c.root+"/tools", os.DirFS(".")))
		for name, script := range map[string]string{
			"apt-get": "#!/bin/sh\necho \"apt-get $*\" >&2\n",
			"sudo":    "#!/bin/sh\n[ \"$1\" != -n ] || shift\nexec \"$@\"\n",
		} {
			write(t, c.path+"/"+name, []byte(script))
			c.must(t, "PATH=/usr/bin:/bin chmod +x "+c.path+"/"+name)
		}
		said, err := c.try(t, environment+" bash tools/apt.sh chromium lld </dev/null")
		installed := strings.Contains(said, "\napt-get ") && strings.Contains(said, "install -y --no-install-recommends chromium lld\n")
		named := strings.Contains(said, "apt-get install -y --no-install-recommends chromium lld'\n") && strings.Contains(said, "INSTALL=1")
		if (err == nil) != installs || installed != installs || named == installs {
			t.Errorf("%s: error %v, said: %s", environment, err, said)
		}
	}
}
