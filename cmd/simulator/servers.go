package main

import (
	"errors"

	"wasmkwokwizardry.io/regex-scheduling/simulator/api"
	"wasmkwokwizardry.io/regex-scheduling/simulator/page"
)

// servers are open from the first moment: a port that is taken is an error at once,
// and a browser sees the start.
type servers struct {
	page, compat *api.Server
	starting     *page.Starting
	end          func() // of the process
}

func listen(o *options, end func()) (s *servers, err error) {
	s = &servers{starting: page.NewStarting(), end: end}
	if s.page, err = api.Listen(o.listen, o.port, "--port", s.starting); err != nil {
		return nil, err
	}
	if s.compat, err = api.Listen(o.listen, o.compatPort, "--compat-port", s.starting); err != nil {
		return nil, errors.Join(err, s.page.Stop())
	}
	return s, nil
}

func (s *servers) stop() error { return errors.Join(s.page.Stop(), s.compat.Stop()) }
