package drain

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestReadPricesReportsMistakes(t *testing.T) {
	nodes := []v1.Node{{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1.LabelInstanceTypeStable: "m5.large", v1.LabelTopologyZone: "zone-b"}}}}
	path := filepath.Join(t.TempDir(), "prices.yaml")
	for text, want := range map[string]string{
		"currency: USD\nperHour: {m5.large: 0.096}":                "",
		"label: topology.kubernetes.io/zone\nperHour: {zone-b: 1}": "",
		"perHour: {m5.large: -1}":                                  "--prices " + path + ": perHour[m5.large]: -1 is negative",
		"currency: USD":                                            "--prices " + path + ": no prices: write \"perHour:\"",
		"":                                                         "--prices " + path + ": no prices",
		"perhour: {m5.large: 1}":                                   "--prices " + path + `: line 1: perhour: unknown field: do you mean "perHour"?`,
		"perHour: {m5.large: cheap}":                               "--prices " + path + ": line 1: ",
		"perHour: {m5.large: 1, m5.large: 2}":                      "--prices " + path + ": line 1: ",
		"perHour: {m5.large: .nan}":                                "--prices " + path + ": ",
		"perHour: {":                                               "--prices " + path + ": ",
		"perHour: {t3.nano: 1}":                                    "--prices: no node has a price: there are some for t3.nano, and none of these is a node's label node.kubernetes.io/instance-type",
		"label: pool\nperHour: {m5.large: 1}":                      "--prices: no node has a price: ",
	} {
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
		p, err := ReadPrices(path)
		if err == nil {
			err = p.Check(nodes)
		}
		got := fmt.Sprint(err)
		if want == "" && err != nil || want != "" && !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	_, err := ReadPrices(filepath.Join(t.TempDir(), "none"))
	if err == nil || !strings.HasPrefix(err.Error(), "--prices: open ") {
		t.Error(err)
	}
}

func TestUnknownPricesAreNamed(t *testing.T) {
	node := func(name, kind string) v1.Node {
		return v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelInstanceTypeStable: kind}}}
	}
	r := &Result{Go: []string{"a", "b", "c"}}
	prices := &Prices{Label: v1.LabelInstanceTypeStable, PerHour: map[string]float64{"small": 0.25, "large": 9}}
	r.addPrices([]v1.Node{node("a", "small"), node("b", "other"), node("c", "small"), node("stays", "large"), node("stays-too", "other")}, prices)
	if r.Saves != 0.5 || strings.Join(r.Unpriced, " ") != "b" {
		t.Errorf("%v an hour, without %s", r.Saves, r.Unpriced)
	}
}
