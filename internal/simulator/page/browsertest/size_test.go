package browsertest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// What a view may take on a quiet machine: bytes of its document or part, and time until it is shown.
const (
	mostBytes = 1 << 20
	mostTime  = time.Second
)

// fill creates nodes in three zones, and pods, each tenth of which names nodes by a regex.
func (p *tab) fill(nodes, pods int) {
	p.Helper()
	in := &snapshot.Snapshot{}
	room := objects.Resources("4", "8Gi")
	room[v1.ResourcePods] = resource.MustParse("20")
	for i := range nodes {
		node := objects.PlainNode(fmt.Sprintf(cloudNode, i), fmt.Sprint("zone-", i%3), "4")
		node.Status = v1.NodeStatus{Capacity: room, Allocatable: room}
		in.Nodes = append(in.Nodes, node)
	}
	for i := range pods {
		pod := objects.PlainPod(fmt.Sprintf(cloudPod, fmt.Sprint(i)), "1")
		pod.Spec.Containers[0].Resources.Requests = objects.Resources(fmt.Sprint(100+i%7*150, "m"), "256Mi")
		if i%100 == 0 {
			pod.Annotations = map[string]string{regex.Annotation: "no-such-node-.*"}
		} else if i%10 == 0 {
			pod.Annotations = map[string]string{regex.Annotation: fmt.Sprintf(`^ip-10-0-28-%d\d?\.`, i%90+10)}
		}
		in.Pods = append(in.Pods, pod)
	}
	testkit.Must(p, sim.Import(p.Context(), in, nil))
}

// view opens an address, and reports the bytes and the time of its document.
func (p *tab) view(path string) {
	p.Helper()
	began := time.Now()
	p.do(chromedp.Navigate(server.URL() + path))
	p.waitFor("it is drawn", "document.readyState === 'complete'")
	took := time.Since(began)
	var bytes, elements int
	p.do(chromedp.Evaluate("performance.getEntriesByType('navigation')[0].transferSize", &bytes), chromedp.Evaluate("document.querySelectorAll('*').length", &elements))
	p.Logf("%-60s %8d bytes %6d elements %5d ms", path, bytes, elements, took.Milliseconds())
	if bytes > mostBytes || took > mostTime && os.Getenv("QUIET") != "" {
		p.Errorf("%s has %d bytes and took %v", path, bytes, took)
	}
}

func TestViewsOfAThousandNodesAreSmall(t *testing.T) {
	if os.Getenv("NIGHTLY") == "" {
		t.Skip("set NIGHTLY=1 to fill a page with 3,000 pods, and QUIET=1 to limit the time of a view: make test-nightly")
	}
	p := open(t, "/")
	p.configure(head + plugins + guestV2)
	p.fill(1000, 3000)
	p.long(8*time.Minute, func() { p.says("#summary", "2970 running") })
	for _, path := range []string{
		"/", "/?sort=cpu", "/?filter=ip-.*-7%5Cd%5C.", "/pods", "/pods?sort=-node", "/pods?filter=checkout-.*-1%5Cd%24", "/objects",
		"/pods/default/" + fmt.Sprintf(cloudPod, "100"), "/pods/default/" + fmt.Sprintf(cloudPod, "11"), "/nodes/" + fmt.Sprintf(cloudNode, 5),
		"/new/pod", "/edit/node?name=" + fmt.Sprintf(cloudNode, 5), "/scheduler", "/fit", "/removal",
	} {
		p.view(path)
	}
	p.do(chromedp.Navigate(server.URL() + "/scheduler"))
	p.paste("#text", head+strings.Replace(plugins, "enabled:", "disabled: [{name: NodeResourcesBalancedAllocation}]\n      enabled:", 1)+guestV2)
	p.click("#compare")
	p.waitWithin(8*time.Minute, "the comparison is shown", "location.pathname.startsWith('/results/')")
	var path string
	p.do(chromedp.Evaluate("location.pathname", &path))
	p.view(path)
	p.click("#each > summary")
	p.timed("search", func() { p.typeIn("#find", "frontend") }, "document.querySelectorAll('#pods tr.pod').length === 100")
}
