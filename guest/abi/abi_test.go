package abi_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/guest/enqueue"
)

// directive is a comment for the compiler, and the function that it is about.
type directive struct {
	is, words string
	function  *ast.FuncDecl
}

// directives are all of the kit.
func directives(t *testing.T) (all []directive) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", path), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			for _, comment := range group.List {
				is, words, _ := strings.Cut(comment.Text, " ")
				if !slices.Contains([]string{"//go:wasmimport", "//go:wasmexport", "//export"}, is) {
					continue
				}
				next := slices.IndexFunc(file.Decls, func(decl ast.Decl) bool { return decl.End() > comment.Pos() })
				all = append(all, directive{is, words, file.Decls[next].(*ast.FuncDecl)})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestKitHasTheNamesAndShapesOfTheABI(t *testing.T) {
	exported := map[string]map[string]bool{"//go:wasmexport": {}, "//export": {}}
	imported := map[string]int{}
	for _, d := range directives(t) {
		results := d.function.Type.Results.NumFields()
		if d.is != "//go:wasmimport" {
			exported[d.is][d.words] = true
			export, ok := abi.Exports[d.words]
			typed := map[string]abi.Type{"uint32": abi.I32, "uint64": abi.I64}
			is := abi.Nothing
			if results == 1 {
				is = typed[d.function.Type.Results.List[0].Type.(*ast.Ident).Name]
			}
			if !ok || export.Returns != is || d.function.Type.Params.NumFields() != len(export.Params) {
				t.Errorf("%s %s returns %q, and in the ABI %q", d.is, d.words, is, export.Returns)
			}
			continue
		}
		module, name, _ := strings.Cut(d.words, " ")
		imported[module]++
		function, ok := abi.Imports[module][name]
		if !ok || len(function.Params) != d.function.Type.Params.NumFields() || (function.Returns == abi.I32) != (results == 1) {
			t.Errorf("%s is imported with another shape than %v", d.words, function)
		}
	}
	if len(imported) != len(abi.Imports) {
		t.Errorf("the kit imports of %v", imported)
	}
	// The start functions are the compiler's.
	want := slices.DeleteFunc(slices.Sorted(maps.Keys(abi.Exports)), func(name string) bool { return strings.HasPrefix(name, "_") })
	for is, names := range exported {
		got := slices.Sorted(maps.Keys(names))
		if !slices.Equal(got, want) {
			t.Errorf("%s: the kit exports %q, and the ABI has %q", is, got, want)
		}
	}
}

func TestKitHasTheNumbersOfTheABI(t *testing.T) {
	for number, name := range map[guest.Code]string{
		guest.Success: "Success", guest.Error: "Error", guest.Unschedulable: "Unschedulable",
		guest.UnschedulableAndUnresolvable: "UnschedulableAndUnresolvable",
		guest.Wait:                         "Wait", guest.Skip: "Skip", guest.Pending: "Pending",
	} {
		if abi.Codes[number].Name != name {
			t.Errorf("the code %d is %s in the kit, and %s in the ABI", number, name, abi.Codes[number].Name)
		}
	}
	for number, name := range map[enqueue.Resource]string{enqueue.Pod: "Pod", enqueue.Node: "Node"} {
		if abi.Resources[number] != name {
			t.Errorf("the resource %d is %s in the kit, and %s in the ABI", number, name, abi.Resources[number])
		}
	}
	actions := []enqueue.ActionType{
		enqueue.Add, enqueue.Delete,
		enqueue.UpdateNodeAllocatable, enqueue.UpdateNodeLabel, enqueue.UpdateNodeTaint, enqueue.UpdateNodeCondition, enqueue.UpdateNodeAnnotation,
		enqueue.UpdatePodLabel, enqueue.UpdatePodScaleDown, enqueue.UpdatePodTolerations, enqueue.UpdatePodSchedulingGatesEliminated,
		enqueue.UpdatePodGeneratedResourceClaim, enqueue.UpdatePodOther,
	}
	for bit, action := range actions {
		if action != 1<<bit || len(actions) != len(abi.Actions) {
			t.Errorf("%s is bit %d in the ABI, and %b in the kit", abi.Actions[bit], bit, action)
		}
	}
}
