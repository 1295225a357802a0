package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

func (p *page) export(w http.ResponseWriter, r *http.Request) error {
	objects, err := p.sim.Export(r.Context())
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", `attachment; filename="simulator-`+time.Now().Format("2006-01-02-1504")+`.json"`)
	_ = json.NewEncoder(w).Encode(objects)
	return nil
}

func (p *page) importFile(w http.ResponseWriter, r *http.Request) error {
	objects, notices, err := snapshotOf(r)
	if err != nil {
		return problemsOf(err)
	}
	return p.await(w, r, p.jobs.start("Importing", func(ctx context.Context, job *job) (outcome, error) {
		err := p.sim.Import(ctx, objects, job.progress)
		refused := snapshot.NotImported(nil)
		if err != nil && !errors.As(err, &refused) {
			return outcome{}, err
		}
		return outcome{
			Notice:  fmt.Sprintf("Imported %s and %s", report.Plural(len(objects.Nodes), "node"), report.Plural(len(objects.Pods), "pod")),
			Remarks: slices.Concat(refused, notices), But: "It differs from the file",
		}, nil
	}))
}

func (p *page) loadExample(w http.ResponseWriter, r *http.Request) error {
	return answer(w, "Loaded the example. Click a pod to see why it is where it is.", false, p.sim.Import(r.Context(), simulator.Example(), nil))
}

func snapshotOf(r *http.Request) (*snapshot.Snapshot, []snapshot.Notice, error) {
	file, header, err := r.FormFile("file")
	if err != nil {
		return nil, nil, fmt.Errorf("upload of the file: %w", err)
	}
	defer func() { _ = file.Close() }()
	objects, notices, err := snapshot.ReadSent(file)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is not an exported file: %w", header.Filename, err)
	}
	if r.FormValue("objects-only") != "" {
		objects.SchedulerConfig = nil
	}
	return objects, notices, nil
}

// reset stops what still changes the cluster, which else would create objects meanwhile.
func (p *page) reset(w http.ResponseWriter, r *http.Request) error {
	return p.await(w, r, p.jobs.start("Resetting", func(ctx context.Context, own *job) (outcome, error) {
		p.jobs.stopOthers(own)
		return outcome{Notice: "The cluster is in the state of the start"}, p.sim.Reset(ctx)
	}))
}
