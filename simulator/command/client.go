package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// stopTime is how long a simulator may take to stop.
const stopTime = 30 * time.Second

func stopRunning(ctx context.Context, port int) error {
	if err := ask(ctx, http.MethodPost, port, "stop"); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, stopTime, true, func(context.Context) (bool, error) {
		conn, err := net.Dial("tcp", address(port))
		if err == nil {
			conn.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED), nil
	})
	if err != nil {
		return fmt.Errorf("the simulator at port %d has not stopped within %s", port, stopTime)
	}
	return nil
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

func ask(ctx context.Context, method string, port int, path string) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+address(port)+"/api/v1/"+path, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // and no proxy
	response, err := client.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("no simulator runs at port %d: start one, or say where it is with --port", port)
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusAccepted {
		return nil
	}
	var problem struct{ Message string }
	_ = json.NewDecoder(io.LimitReader(response.Body, 64<<10)).Decode(&problem)
	return fmt.Errorf("%s: %s %s", path, response.Status, problem.Message)
}
