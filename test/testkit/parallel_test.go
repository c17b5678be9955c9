package testkit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNoSubtestWaitsForItsOwnBroker: on a real broker a test has it alone until its
// subtests have ended. Parallel ones wait for a turn, which all those may have that wait
// for the broker.
func TestNoSubtestWaitsForItsOwnBroker(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	looked := 0
	for _, functions := range testFunctions(t, fset) {
		reserving := reserving(functions)
		looked += len(reserving)
		for _, fn := range functions {
			if outer, inner := calls(fn.Body); strings.HasPrefix(fn.Name.Name, "Test") && slices.Contains(inner, "t.Parallel") &&
				slices.ContainsFunc(outer, func(name string) bool { return reserving[name] }) {
				t.Errorf("%s: subtests of %s are parallel, while it holds the broker", fset.Position(fn.Pos()), fn.Name.Name)
			}
		}
	}
	if looked < 20 {
		t.Errorf("of %d functions it is known that they reserve a broker, want dozens", looked)
	}
}

// testFunctions returns the functions of all tests of the tree, by directory.
func testFunctions(tb testing.TB, fset *token.FileSet) map[string][]*ast.FuncDecl {
	tb.Helper()
	found := map[string][]*ast.FuncDecl{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil && fn.Recv == nil {
				found[filepath.Dir(path)] = append(found[filepath.Dir(path)], fn)
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// reserving returns the functions of a package that reserve a broker, or call one that does.
func reserving(functions []*ast.FuncDecl) map[string]bool {
	found := map[string]bool{"testkit.Brokers": true}
	for before := 0; before < len(found); {
		before = len(found)
		for _, fn := range functions {
			if outer, _ := calls(fn.Body); slices.ContainsFunc(outer, func(name string) bool { return found[name] }) {
				found[fn.Name.Name] = true
			}
		}
	}
	return found
}

// calls returns what a function calls itself, by name, and what functions inside of it call.
func calls(body *ast.BlockStmt) (outer, inner []string) {
	depth := 0
	var stack []ast.Node
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			if _, ok := stack[len(stack)-1].(*ast.FuncLit); ok {
				depth--
			}
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.FuncLit:
			depth++
		case *ast.CallExpr:
			if depth == 0 {
				outer = append(outer, name(n.Fun))
			} else {
				inner = append(inner, name(n.Fun))
			}
		}
		return true
	})
	return outer, inner
}

// name is how a function is called: by its name, or by that of what it belongs to as well.
func name(fn ast.Expr) string {
	switch fn := fn.(type) {
	case *ast.Ident:
		return fn.Name
	case *ast.SelectorExpr:
		if of, ok := fn.X.(*ast.Ident); ok {
			return of.Name + "." + fn.Sel.Name
		}
	}
	return ""
}
