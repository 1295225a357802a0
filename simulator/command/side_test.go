package command

import (
	"os"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestCompareRunsOtherPrograms(t *testing.T) {
	self, err := os.Executable()
	testkit.Must(t, err)
	args := []string{"compare", "--cluster", compared, "--a", "none", "--a-simulator", self, "--b", "v2", "--b-simulator"}
	status, out, errOut := here(t, append(args, self)...)
	if status != statusLost || !strings.Contains(out, "picky") {
		t.Errorf("status %d: %s %s", status, out, errOut)
	}
	misspelt := writeFile(t, t.TempDir(), "misspelt.yaml", "profiles:\n- schedulername: mine\n")
	refused(t, "compare -q --cluster "+compared+" --b v2 --a-simulator "+self, map[string][]string{
		`/config.yaml: line 2: profiles[0].schedulername: unknown field: do you mean "schedulerName"?`: {"--a", misspelt},
	})
}
