package snapshot

import (
	"context"

	"k8s.io/client-go/kubernetes"
)

// Complete adds what the objects of a snapshot refer to and what it does not
// have, and has pods name their claims. An import does so too; with this, a
// snapshot can be imported in parts.
func (s *Snapshot) Complete() {
	s.add(s.missing())
	s.dropSystems()
	nameClaims(s)
}

// completeBeside adds what is missing, but for what is there already.
func (s *Snapshot) completeBeside(ctx context.Context, there kubernetes.Interface) error {
	missing := s.missing()
	for _, kind := range Kinds {
		if err := kind.dropThere(ctx, there, missing); err != nil {
			return err
		}
	}
	s.add(missing)
	return nil
}

// add adds what is missing.
func (s *Snapshot) add(missing *Snapshot) {
	s.Namespaces = append(s.Namespaces, missing.Namespaces...)
	s.PriorityClasses = append(s.PriorityClasses, missing.PriorityClasses...)
	s.RuntimeClasses = append(s.RuntimeClasses, missing.RuntimeClasses...)
}
