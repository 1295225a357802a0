package wasmhost

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// A number that is new has to be put somewhere on the page.
func TestLimitsAreOnOnePage(t *testing.T) {
	page, err := os.ReadFile("limits.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{".", "internal/abi", "internal/memory", "internal/compiler", "internal/fetch", "internal/signature"} {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, name := range numbers(t, file) {
				if !regexp.MustCompile(`\b` + name + `\b`).Match(page) {
					t.Errorf("%s: the constant %s is not in limits.go: is it of the ABI, does it protect, or may one tune it?", file, name)
				}
			}
		}
	}
}

// numbers are the names of a file's constants that are sizes, counts or times.
func numbers(t *testing.T, file string) (names []string) {
	if ok, _ := filepath.Match("*_test.go", filepath.Base(file)); ok {
		return nil
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			if value.Type == nil && len(value.Values) == 1 && isNumber(value.Values[0]) && value.Names[0].Name != "statusRefused" {
				names = append(names, value.Names[0].Name)
			}
		}
	}
	return names
}

func isNumber(e ast.Expr) (is bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		is = is || ok && lit.Kind == token.INT
		return true
	})
	return is || isTime(e)
}

// isTime reports whether a value is a unit of package time.
func isTime(e ast.Expr) bool {
	unit, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := unit.X.(*ast.Ident)
	return ok && of.Name == "time"
}
