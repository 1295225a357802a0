package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// status is an error with a status other than 500.
type status struct {
	code int
	error
}

func (s status) Unwrap() error { return s.error }

// fail answers with an error. As in kube-scheduler-simulator, whatever has no
// status of its own is a 500; unlike there, the answer says what went wrong.
func fail(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	var own status
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &own):
		code = own.code
	case errors.As(err, &large):
		code, err = http.StatusRequestEntityTooLarge, fmt.Errorf("the request is over the limit of %d bytes", large.Limit)
	}
	refuse(w, code, err.Error())
}

func refuse(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
}

func writeJSON(w http.ResponseWriter, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return write(w, "application/json", body)
}

// write answers with a body. That the client has gone is no error of ours.
func write(w http.ResponseWriter, contentType string, body []byte) error {
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(body)
	return nil
}
