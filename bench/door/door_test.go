package door

import (
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/bench/work"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/wat"
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

func TestEveryFloorIsBuiltFromTheSourceBesideIt(t *testing.T) { wat.Check(t, floors) }
