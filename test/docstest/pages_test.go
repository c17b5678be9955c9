package docstest

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated parts of the documents anew")

// root is the repository, from here.
const root = "../.."

// page is one Markdown file.
type page struct {
	name  string // from the root, such as docs/api.md
	lines []line
}

// line is one line of a page, and what it is part of.
type line struct {
	text string
	kind kind
}

type kind uint8

const (
	prose kind = iota
	table
	code  // fenced or indented
	fence // of a block of code
)

// pages reads every Markdown file of the repository.
func pages(t *testing.T) []page {
	t.Helper()
	var all []page
	for _, name := range sources(t, ".md") {
		all = append(all, page{name, parse(read(t, name))})
	}
	if len(all) < 20 {
		t.Fatalf("%d pages, want all of them", len(all))
	}
	return all
}

// sources returns the files with one of the endings, from the root.
func sources(t *testing.T, endings ...string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "anabranch-data") {
			return fs.SkipDir
		}
		for _, ending := range endings {
			if !entry.IsDir() && strings.HasSuffix(name, ending) {
				from, err := filepath.Rel(root, path)
				all = append(all, filepath.ToSlash(from))
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parse(text string) []line {
	var all []line
	fenced, before := false, prose
	for each := range strings.Lines(text) {
		each = strings.TrimSuffix(each, "\n")
		is := prose
		switch {
		case strings.HasPrefix(strings.TrimSpace(each), "```"):
			is, fenced = fence, !fenced
		case fenced:
			is = code
		case strings.HasPrefix(each, "|"):
			is = table
		case strings.HasPrefix(each, "    ") && (before == code || len(all) > 0 && all[len(all)-1].text == ""):
			is = code
		case each == "" && before == code:
			is = code // between two lines of one block, or behind it
		}
		all = append(all, line{each, is})
		before = is
	}
	return all
}

// text joins the lines of the given kinds.
func (p *page) text(kinds ...kind) string {
	var b strings.Builder
	for _, l := range p.lines {
		for _, wanted := range kinds {
			if l.kind == wanted {
				b.WriteString(l.text)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

var span = regexp.MustCompile("`([^`]+)`")

// typed returns what the page says to type or to set: each line of its code, and each span of code in its text.
func (p *page) typed() []string {
	all := p.code()
	for _, m := range span.FindAllStringSubmatch(p.text(prose, table), -1) {
		all = append(all, strings.ReplaceAll(m[1], "\n", " "))
	}
	return all
}

// code returns the lines of the page's code.
func (p *page) code() []string {
	var all []string
	for _, l := range p.lines {
		if l.kind == code {
			all = append(all, l.text)
		}
	}
	return all
}

// blocks returns the fenced blocks of a language, whole.
func (p *page) blocks(language string) []string {
	var all []string
	within := false
	for _, l := range p.lines {
		switch {
		case l.kind == fence && within:
			within = false
		case l.kind == fence && l.text == "```"+language:
			within = true
			all = append(all, "")
		case within:
			all[len(all)-1] += l.text + "\n"
		}
	}
	return all
}

// open returns one page.
func open(t *testing.T, name string) *page {
	t.Helper()
	return &page{name, parse(read(t, name))}
}

func TestParse(t *testing.T) {
	t.Parallel()
	p := page{lines: parse("a `x y`\n\n    code\n\n    more\n\nb\n  - c\n    d\n| t |\n```go\nfunc\n    indented\n```\n`p\nq`\n")}
	var kinds strings.Builder
	for _, l := range p.lines {
		kinds.WriteByte("ptcf"[l.kind])
	}
	if want := "ppccccppptfccfpp"; kinds.String() != want {
		t.Errorf("kinds %s, want %s", kinds.String(), want)
	}
	if got, want := strings.Join(p.typed(), "|"), "    code||    more||func|    indented|x y|p q"; got != want {
		t.Errorf("typed %q, want %q", got, want)
	}
	if got := p.blocks("go"); len(got) != 1 || got[0] != "func\n    indented\n" {
		t.Errorf("blocks %q", got)
	}
}
