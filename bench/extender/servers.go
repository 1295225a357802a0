package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/corpus"
)

// serve serves on a port of loopback until ctx is done, and returns its URL.
func serve(ctx context.Context, handler http.Handler) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handler}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() { _ = server.Serve(l) }()
	return "http://" + l.Addr().String() + "/filter", nil
}

// serveOurs serves the extender as it comes, but for the log.
func serveOurs(ctx context.Context) (string, error) {
	c, err := config.Load("", nil)
	if err != nil {
		return "", err
	}
	e, err := extender.New(extender.Options{Config: c, Logger: logr.Discard(), Version: "bench"})
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	c.Timeouts.Unready.Duration = 0
	go func() { _ = e.Serve(ctx, l) }()
	return "http://" + l.Addr().String() + "/filter", nil
}

// echo is the baseline: it reads the body into memory that it has already and
// writes as many bytes as the answer under comparison has.
type echo struct{ body, answer []byte }

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.ReadFull(r.Body, e.body[:r.ContentLength]); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(e.answer)))
	_, _ = w.Write(e.answer)
}

// typed is the extender as one writes it first: encoding/json and the API's
// types at both ends.
func typed(w http.ResponseWriter, r *http.Request) {
	var args extenderv1.ExtenderArgs
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(typedFilter(&args))
}

func typedFilter(args *extenderv1.ExtenderArgs) *extenderv1.ExtenderFilterResult {
	result := &extenderv1.ExtenderFilterResult{FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{}}
	pattern := args.Pod.Annotations[corpus.Annotation]
	re, err := regexp.Compile(pattern)
	if err != nil {
		result.Error = err.Error()
		return result
	}
	reason := "node(s) didn't match the pod's node name regex " + strconv.Quote(pattern)
	if args.Nodes != nil {
		result.Nodes = &corev1.NodeList{}
		for _, node := range args.Nodes.Items {
			if re.MatchString(node.Name) {
				result.Nodes.Items = append(result.Nodes.Items, node)
			} else {
				result.FailedAndUnresolvableNodes[node.Name] = reason
			}
		}
	}
	if args.NodeNames != nil {
		result.NodeNames = &[]string{}
		for _, name := range *args.NodeNames {
			if re.MatchString(name) {
				*result.NodeNames = append(*result.NodeNames, name)
			} else {
				result.FailedAndUnresolvableNodes[name] = reason
			}
		}
	}
	return result
}
