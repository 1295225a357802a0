package simulator

import (
	"errors"
	"fmt"
	"net/http"

	"k8s.io/klog/v2"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/static/guestserver"
)

// extenderName is the host under which configurations refer to the HTTP
// extender that the simulator runs.
const extenderName = "extender"

// servers are those that configurations refer to by name.
type servers struct {
	web       *http.Server
	extender  *extender.Running
	transport *http.Transport // knows their names
}

func startServers(webPort int) (s servers, err error) {
	if s.web, _, err = guestserver.Start(fmt.Sprintf("127.0.0.1:%d", webPort)); err != nil {
		return s, fmt.Errorf("web server: %w", err)
	}
	s.transport = guestserver.Names(map[string]string{"static-webserver": s.web.Addr})
	// Without any configuration it answers full nodes and names alike. Only its
	// errors are logged: the rest belongs to a console of its own.
	s.extender, err = extender.Start(extender.Options{Logger: klog.Background().WithName("extender").V(2).WithName})
	return s, err
}

// WebServer is the address of the web server of the guests: http://127.0.0.1:port.
func (s *servers) WebServer() string { return "http://" + s.web.Addr }

// stopServers stops those that run.
func (s *servers) stopServers() error {
	var errs []error
	if s.extender != nil {
		errs = append(errs, s.extender.Stop())
	}
	if s.web != nil {
		errs = append(errs, s.web.Close())
		s.transport.CloseIdleConnections()
	}
	return errors.Join(errs...)
}
