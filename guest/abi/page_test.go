package abi_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
)

var update = flag.Bool("update", false, "write the tables of docs/abi.md")

const page = "../../docs/abi.md"

func TestPageHasTheTablesOfThePackage(t *testing.T) {
	read, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(read)
	for name, table := range tables(t) {
		begin, end := "<!--"+name+"-->\n", "<!--end-->"
		before, rest, begins := strings.Cut(text, begin)
		_, after, ends := strings.Cut(rest, end)
		if !begins || !ends {
			t.Fatalf("%s has no place for %s: %s…%s", page, name, begin, end)
		}
		text = before + begin + "\n" + table + "\n" + end + after
	}
	if !strings.Contains(text, "version "+abi.Version+"\n") {
		t.Errorf("%s is not about version %s", page, abi.Version)
	}
	if text == string(read) {
		return
	}
	if !*update {
		t.Fatalf("%s does not have the tables of this package: (cd guest && go test ./abi -update)", page)
	}
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tables are what the page has of the package, by the name of the place.
func tables(t *testing.T) map[string]string {
	all := map[string]string{
		"exports": table("export", "called"),
		"codes":   table("code", ""),
		"fields":  "    " + strings.Join(abi.Fields, "\n    ") + "\n",
		"events":  "Resources: " + numbered(abi.Resources) + ".\n\nActions, by bit: " + numbered(abi.Actions) + ".\n",
		"limits":  table("at most", ""),

		"resources": table("field", "", ""),
	}
	for _, field := range abi.AmountFields {
		all["resources"] += row(strconv.Itoa(field.Number), "`"+field.Type+" "+field.Name+"`", field.Doc)
	}
	for _, name := range inOrder(t, abi.Exports) {
		all["exports"] += function(name, abi.Exports[name])
	}
	for number, code := range abi.Codes {
		all["codes"] += row(strconv.Itoa(number), strings.TrimSuffix(code.Name+": "+code.Doc, ": "))
	}
	for i, module := range inOrder(t, abi.Imports) {
		if i > 0 {
			all["imports"] += "\n"
		}
		all["imports"] += table("of `"+module+"`", "")
		for _, name := range inOrder(t, abi.Imports[module]) {
			all["imports"] += function(name, abi.Imports[module][name])
		}
	}
	for _, limit := range abi.Limits {
		number := thousands(limit.Most)
		of, isBytes := strings.CutPrefix(limit.Of, "bytes ")
		if isBytes {
			number = bytes(limit.Most)
		} else {
			of = limit.Of
		}
		all["limits"] += row(number, strings.TrimSuffix(of+": "+limit.Beyond, ": "))
	}
	return all
}

func function(name string, f abi.Function) string {
	shape := name + "(" + strings.Join(f.Params, ", ") + ") " + string(f.Returns)
	return row("`"+strings.TrimSpace(shape)+"`", f.Doc)
}

func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func table(header ...string) string {
	return row(header...) + strings.Repeat("|---", len(header)) + "|\n"
}

func numbered(names []string) string {
	list := make([]string, len(names))
	for number, name := range names {
		list[number] = strconv.Itoa(number) + " " + name
	}
	return strings.Join(list, ", ")
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

func bytes(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprint(n>>20, " MiB")
	case n > 1<<10:
		return fmt.Sprint(n>>10, " KiB")
	}
	return thousands(n) + " bytes"
}

// inOrder are the names of functions, or of modules, in the order of the constants.
func inOrder[T any](t *testing.T, of map[string]T) []string {
	source, err := os.ReadFile("abi.go")
	if err != nil {
		t.Fatal(err)
	}
	place := func(name string) int { return strings.Index(string(source), `= "`+name+`"`) }
	return slices.SortedFunc(maps.Keys(of), func(a, b string) int { return place(a) - place(b) })
}
