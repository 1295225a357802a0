// Testoutput makes of the output of go test -json what go test prints without it, and the lines in which a
// passed or skipped test says what is NOT TESTED.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type event struct{ Action, Package, Test, Output string }

func main() {
	input := bufio.NewReader(os.Stdin)
	output := map[event][]string{} // of what runs, by Package and Test
	for {
		line, err := input.ReadString('\n')
		if err != nil {
			fmt.Print(line)
			return
		}
		var e event
		if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
			fmt.Print(line) // of another command
			continue
		}
		of := event{Package: e.Package, Test: e.Test}
		switch e.Action {
		case "build-output":
			fmt.Print(e.Output)
		case "output":
			if !strings.HasPrefix(e.Output, "=== ") {
				output[of] = append(output[of], e.Output)
			}
		case "pass", "skip", "fail":
			for running, lines := range output { // when the process ends, tests may be running
				if running == of || e.Test == "" && running.Package == e.Package && running.Test != "" {
					show(lines, e)
					delete(output, running)
				}
			}
		}
	}
}

// show prints the output of what has ended: all of what failed, and of a package that passed its last line.
func show(output []string, end event) {
	for i, line := range output {
		if end.Action == "fail" || strings.Contains(line, "*** NOT TESTED: ") || end.Test == "" && i == len(output)-1 {
			fmt.Print(line)
		}
	}
}
