package host

import (
	"strconv"
	"strings"
)

// Names reads a JSON array of names of nodes, which need no escapes.
func Names(json []byte) []string {
	text := strings.Trim(string(json), "[]")
	if text == "" || text == "null" {
		return nil
	}
	return strings.Split(strings.ReplaceAll(text, `"`, ""), ",")
}

// Numbers reads a JSON object that has numbers by the names of nodes.
func Numbers(json []byte) map[string]int64 {
	numbers := map[string]int64{}
	for _, entry := range Names([]byte(strings.Trim(string(json), "{}"))) {
		name, number, _ := strings.Cut(entry, ":")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			panic("the host sent a list of numbers that has " + entry + " in it")
		}
		numbers[name] = n
	}
	return numbers
}

// Object writes numbers by names as JSON.
func Object(numbers map[string]int64) string {
	object := []byte{'{'}
	for name, number := range numbers {
		object = append(strconv.AppendQuote(object, name), ':')
		object = append(strconv.AppendInt(object, number, 10), ',')
	}
	if len(numbers) > 0 {
		object = object[:len(object)-1]
	}
	return string(append(object, '}'))
}
