package docstest

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// phrase is a text of the product that its users may meet.
type phrase struct {
	folder string // of the package
	kind   string // log, error, help, setting or, for all else that people may read, text
	text   string // with … for what is not known before it is said
}

// TestTexts holds the texts of the product to plain English, as far as a list of words can. With -v it prints them all,
// by package, for fresh eyes to read.
func TestTexts(t *testing.T) {
	t.Parallel()
	all := phrases(t)
	for _, kind := range []string{"log", "error", "help", "setting", "text"} {
		if !slices.ContainsFunc(all, func(p phrase) bool { return p.kind == kind }) {
			t.Errorf("no text of the kind %s was found", kind)
		}
	}
	folder := ""
	for _, p := range all {
		if testing.Verbose() {
			if p.folder != folder {
				folder = p.folder
				t.Log(folder)
			}
			t.Logf("  %-8s%s", p.kind, p.text)
		}
		if m := foreign.FindString(p.text); m != "" {
			t.Errorf("%s: %q in the %s %q: say it as a manual would", p.folder, m, p.kind, p.text)
		}
	}
}

// foreign are words that engineers do not use for this, or not any more.
var foreign = regexp.MustCompile(`(?i)\b(?:shall|mend(?:s|ed|ing)?|anew|come together|unless told|(?:^)failed to)\b`)

// TestPagesUseTheSameWords: what holds for the program's texts holds for pages and alerts.
func TestPagesUseTheSameWords(t *testing.T) {
	t.Parallel()
	texts := make(map[string]string)
	for _, p := range pages(t) {
		if p.name != "DESIGN.md" { // for those who read the code, whose names it quotes
			texts[p.name] = p.text(prose, table)
		}
	}
	comment := regexp.MustCompile(`(?m)^\s*#.*$`)
	for _, name := range sources(t, ".rules.yml") {
		texts[name] = comment.ReplaceAllString(read(t, name), "")
	}
	for name, text := range texts {
		if m := foreign.FindString(span.ReplaceAllString(text, "")); m != "" {
			t.Errorf("%s says %q: say it as a manual would", name, m)
		}
	}
}

// TestQuotedLinesAreSaid: what the operations guide tells people to look for in a log is what a log has.
func TestQuotedLinesAreSaid(t *testing.T) {
	t.Parallel()
	var all []string
	for _, p := range phrases(t) {
		all = append(all, p.text)
	}
	product := strings.Join(all, "\n")
	quoted := regexp.MustCompile("`((?:[a-z']+ ){2,}[a-z']+)`")
	commands := regexp.MustCompile(`^(?:anabranch|go|make|docker|kill) `)
	seen := 0
	page := open(t, "docs/operations.md")
	for _, m := range quoted.FindAllStringSubmatch(page.text(prose, table), -1) {
		if commands.MatchString(m[1]) {
			continue
		}
		seen++
		if !strings.Contains(product, m[1]) {
			t.Errorf("docs/operations.md quotes %q, which nothing says", m[1])
		}
	}
	if seen < 5 {
		t.Errorf("%d quotations were looked at, want all of them", seen)
	}
}

// phrases returns the texts of every package that is part of the product.
func phrases(t *testing.T) []phrase {
	t.Helper()
	var all []phrase
	for _, name := range sources(t, ".go") {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "test/") || strings.HasPrefix(name, "analytics/internal/compare/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		r := reader{folder: path.Dir(name), read: make(map[ast.Expr]bool)}
		ast.Inspect(file, r.visit)
		all = append(all, r.phrases...)
	}
	slices.SortStableFunc(all, func(a, b phrase) int {
		return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.kind, b.kind), cmp.Compare(a.text, b.text))
	})
	return slices.Compact(all)
}

// reader collects the texts of one file.
type reader struct {
	folder  string
	phrases []phrase
	read    map[ast.Expr]bool // as a part of another
}

func (r *reader) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.ImportSpec:
		return false
	case *ast.Field:
		if n.Tag != nil {
			r.read[n.Tag] = true
			r.tag(n.Tag)
		}
	case *ast.CallExpr:
		if kind := kindOf(n.Fun); kind != "" {
			r.first(kind, n.Args)
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Help" {
			r.add("help", n.Value)
		}
	case *ast.BinaryExpr:
		r.words(n)
	case *ast.BasicLit:
		r.words(n)
	}
	return true
}

// kindOf says what kind of text a function takes first; "" for none that is known.
func kindOf(fun ast.Expr) string {
	selector, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	from, _ := selector.X.(*ast.Ident)
	switch selector.Sel.Name {
	case "Debug", "Info", "Warn", "Error", "DebugContext", "InfoContext", "WarnContext", "ErrorContext", "Log", "LogAttrs":
		if from == nil || from.Name != "http" {
			return "log"
		}
	case "New":
		if from != nil && from.Name == "errors" {
			return "error"
		}
	case "Errorf":
		return "error"
	case "NewDesc":
		return "help"
	}
	return ""
}

// first adds the first text among arguments that has several words, else the first text.
func (r *reader) first(kind string, args []ast.Expr) {
	for _, several := range []bool{true, false} {
		for _, arg := range args {
			if text, ok := textOf(arg); ok && (!several || strings.Contains(text, " ")) {
				r.add(kind, arg)
				return
			}
		}
	}
}

// words adds a text that is handed to something unknown when it has words enough to be a sentence.
func (r *reader) words(expr ast.Expr) {
	if text, ok := textOf(expr); ok && !r.read[expr] && len(strings.Fields(text)) > 2 {
		r.add("text", expr)
	}
}

// tag adds what a field's tags say of it.
func (r *reader) tag(lit *ast.BasicLit) {
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return
	}
	for _, key := range []string{"desc", "doc", "about", "help"} {
		if value := reflect.StructTag(text).Get(key); value != "" {
			r.phrases = append(r.phrases, phrase{r.folder, "setting", value})
		}
	}
}

func (r *reader) add(kind string, expr ast.Expr) {
	text, ok := textOf(expr)
	if !ok || r.read[expr] {
		return
	}
	ast.Inspect(expr, func(node ast.Node) bool {
		if part, ok := node.(ast.Expr); ok {
			r.read[part] = true
		}
		return true
	})
	r.phrases = append(r.phrases, phrase{r.folder, kind, strings.TrimSpace(text)})
}

// textOf returns the text of a literal, or of several that are joined with each other or with something else.
func textOf(expr ast.Expr) (string, bool) {
	switch e := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		left, some := textOf(e.X)
		right, more := textOf(e.Y)
		if e.Op != token.ADD || !some && !more {
			return "", false
		}
		return cmp.Or(left, "…") + cmp.Or(right, "…"), true
	case *ast.CallExpr:
		if selector, ok := e.Fun.(*ast.SelectorExpr); ok && selector.Sel.Name == "Sprintf" && len(e.Args) > 0 {
			return textOf(e.Args[0])
		}
	}
	return "", false
}
