package abi

// nobody is the Scheduler where there is none: before the guest is a plugin.
type nobody struct{}

func (nobody) Node(string) Message          { return nil }
func (nobody) Nodes() (Message, error)      { return nil, nil }
func (nobody) ImageStates(string) any       { return nil }
func (nobody) Eventf(Event)                 {}
func (nobody) RejectWaitingPod(string) bool { return false }
func (nobody) WaitingPod(string) Message    { return nil }

// scheduler is whom a call may ask.
func (i *Instance) scheduler() Scheduler {
	if i.In.Scheduler != nil {
		return i.In.Scheduler
	}
	return nobody{}
}
