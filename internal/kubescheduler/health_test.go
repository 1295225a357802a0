package kubescheduler

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/server"
	schedulerconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
)

// served is what a kubelet gets from the filters that kube-scheduler puts before
// its pages.
func served(cc *schedulerconfig.CompletedConfig, path string) *httptest.ResponseRecorder {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	handler := genericapifilters.WithAuthorization(page, cc.Authorization.Authorizer, scheme.Codecs)
	handler = genericapifilters.WithRequestInfo(handler, &request.RequestInfoFactory{})
	req := httptest.NewRequest(http.MethodGet, path, nil)
	req = req.WithContext(request.WithUser(context.Background(), &user.DefaultInfo{Name: "system:anonymous"}))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, req)
	return w
}

func configWith(a authorizer.Authorizer) *schedulerconfig.CompletedConfig {
	c := schedulerconfig.Config{Authorization: server.AuthorizationInfo{Authorizer: a}}
	cc := c.Complete()
	return &cc
}

func TestAGuestThatHangsFailsLivenessAndNothingElse(t *testing.T) {
	var hung error
	cc := configWith(authorizerfactory.NewAlwaysAllowAuthorizer())
	checkHealth(cc, func() error { return hung })
	for _, hung = range []error{nil, errors.New("plugin Wasm: filter has been running for 12s"), nil} {
		for _, path := range []string{"/healthz", "/livez", "/readyz", "/metrics"} {
			code, text := http.StatusOK, "ok"
			if hung != nil && strings.HasSuffix(path, "z") && path != "/readyz" {
				code, text = http.StatusInternalServerError, hung.Error()
			}
			if w := served(cc, path); w.Code != code || !strings.Contains(w.Body.String(), text) {
				t.Errorf("%v: %s answers %d: %s", hung, path, w.Code, w.Body)
			}
		}
	}
}

func TestWhoMayNotAskStillMayNot(t *testing.T) {
	cc := configWith(authorizerfactory.NewAlwaysDenyAuthorizer())
	checkHealth(cc, func() error { return nil })
	if w := served(cc, "/livez"); w.Code != http.StatusForbidden {
		t.Errorf("/livez answers %d: %s", w.Code, w.Body)
	}
}

func TestWithoutAuthorizationThereStillIsNone(t *testing.T) {
	cc := configWith(nil)
	checkHealth(cc, func() error { return nil })
	if cc.Authorization.Authorizer != nil {
		t.Error("there is")
	}
}
