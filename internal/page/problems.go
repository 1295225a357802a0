package page

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// problem is something wrong with a typed text.
type problem struct {
	// Line is where, from 1, or 0 if that is not known.
	Line int
	// Field is a path such as spec.containers[0].name, or empty.
	Field   string
	Message string
}

func asProblem(err error) problem { return problem{Message: err.Error()} }

var yamlLine = regexp.MustCompile(`line (\d+): `)

// yamlProblem is for an error of the YAML parser on a text that begins on a line
// of a longer one.
func yamlProblem(err error, first int) problem {
	message := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	message = strings.Replace(message, "yaml: unmarshal errors:\n  ", "yaml: ", 1)
	at := yamlLine.FindStringSubmatchIndex(message)
	if at == nil {
		return problem{Line: first, Message: message}
	}
	line, _ := strconv.Atoi(message[at[2]:at[3]])
	return problem{Line: first + line - 1, Message: message[:at[0]] + message[at[1]:]}
}

var (
	unknownField = regexp.MustCompile(`(?:unknown|duplicate) field "([^"]+)"`)
	wrongType    = regexp.MustCompile(`cannot unmarshal (\w+) into Go struct field \w+\.([\w.]+) of type (\S+)`)
)

// refusal is what the API server has against a document, in its own words, at
// the lines that they are about.
func refusal(d document, err error) []problem {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return []problem{asProblem(err)}
	}
	var problems []problem
	add := func(field, message string) {
		problems = append(problems, problem{Line: d.line(field), Field: field, Message: message})
	}
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			add(cause.Field, cause.Message)
		}
	}
	if len(problems) > 0 {
		return problems
	}
	message := status.Status().Message
	for _, m := range unknownField.FindAllStringSubmatch(message, -1) {
		add(m[1], strings.SplitN(m[0], " ", 2)[0]+" field")
	}
	if m := wrongType.FindStringSubmatch(message); m != nil {
		add(m[2], "is a "+m[1]+", must be "+m[3])
	}
	if len(problems) == 0 {
		add("", message)
	}
	return problems
}
