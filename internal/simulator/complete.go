package simulator

// Complete adds what the objects of a snapshot refer to and what it does not
// have, and has pods name their claims. An import does so too; with this, a
// snapshot can be imported in parts.
func (s *Snapshot) Complete() {
	missing := s.missing()
	s.Namespaces = append(s.Namespaces, missing.Namespaces...)
	s.PriorityClasses = append(s.PriorityClasses, missing.PriorityClasses...)
	s.RuntimeClasses = append(s.RuntimeClasses, missing.RuntimeClasses...)
	s.dropSystems()
	nameClaims(s)
}
