package simulator

import (
	"errors"
	"fmt"
)

// held does something while no controller changes an object. Those of namespaces
// and of owned objects go on: see [controlplane.Cluster.Hold].
func (s *Simulator) held(do func() error) error {
	resume, err := s.cluster.Hold()
	if err != nil {
		return err
	}
	err = do()
	if again := resume(); again != nil {
		err = errors.Join(err, fmt.Errorf("start the controllers again: %w", again))
	}
	return err
}
