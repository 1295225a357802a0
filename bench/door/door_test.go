package door

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

const floors = "../../testdata/bench"

func TestEveryDoorOfOursAdmitsWhatRegexpAdmits(t *testing.T) {
	cluster := work.NewCluster(100)
	doors, err := All(floors, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range doors {
		t.Run(d.Name, func(t *testing.T) {
			s, err := d.Open(t.Context(), cluster)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for i, c := range work.Cases() {
				got, err := s.Cycle(work.NewPod(i, c), nil)
				want, _ := c.Want(cluster)
				if err != nil || (d.Role == Ours && len(got) != want) {
					t.Errorf("%s: %d nodes, %v; want %d", c.Name, len(got), err, want)
				}
			}
			if g, ok := s.(Guest); ok && g.Memory() == 0 {
				t.Error("the guest has no memory")
			}
		})
	}
}

func TestTwoGuestsOfOneNameAreRefused(t *testing.T) {
	_, err := All(floors, []string{floors + "/empty.wasm"})
	if err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("got %v", err)
	}
}

func TestEveryFloorIsBuiltFromTheSourceBesideIt(t *testing.T) {
	wat2wasm, err := exec.LookPath("wat2wasm")
	if err != nil {
		t.Skip("no wat2wasm on PATH (package wabt): the committed guests are taken on trust")
	}
	sources, _ := filepath.Glob(floors + "/*.wat")
	if len(sources) == 0 {
		t.Fatal("no sources")
	}
	for _, source := range sources {
		built := filepath.Join(t.TempDir(), "guest.wasm")
		if out, err := exec.Command(wat2wasm, source, "-o", built).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", source, err, out)
		}
		got, err := os.ReadFile(built)
		if err != nil {
			t.Fatal(err)
		}
		committed, err := os.ReadFile(strings.TrimSuffix(source, ".wat") + ".wasm")
		if err != nil || !bytes.Equal(got, committed) {
			t.Errorf("%s is not what the committed guest is made of (%v)", source, err)
		}
	}
}
