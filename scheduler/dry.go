package scheduler

import (
	"context"
	"os"
)

// nowhere is a kubeconfig of a cluster that nobody asks anything.
const nowhere = `
apiVersion: v1
kind: Config
current-context: nowhere
contexts: [{name: nowhere, context: {cluster: nowhere}}]
clusters: [{name: nowhere, cluster: {server: "https://127.0.0.1:1"}}]
`

// Check returns the error of the configuration or of its guests with which [Run]
// would end. It makes a scheduler, guests and all, and does not run it, so it needs no
// cluster and contacts none.
func Check(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	if o.Kubeconfig, err = writeTemp([]byte(nowhere)); err != nil {
		return err
	}
	defer os.Remove(o.Kubeconfig)
	s := o.newSetup()
	defer s.host.Close()
	cc, _, err := o.setup(ctx, s)
	if err != nil {
		return err
	}
	cc.EventBroadcaster.Shutdown()
	return nil
}
