package docstest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

var (
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	// Sources name pages too: advice, runbooks, comments.
	named = regexp.MustCompile(`\b((?:docs|schemas|deploy/kubernetes)/[\w-]+\.md)(?:#([\w-]+))?`)
)

// repository is where pages are published: links there are links to files here.
const repository = "https://github.com/anabranch/anabranch/blob/main/"

func TestLinksResolve(t *testing.T) {
	t.Parallel()
	found := 0
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(p.text(prose, table), -1) {
			target := m[1]
			if local, ours := strings.CutPrefix(target, repository); ours {
				target = "/" + local
			}
			if strings.Contains(target, "://") {
				continue
			}
			found++
			if problem := resolve(p.name, target); problem != "" {
				t.Errorf("%s: link to %s: %s", p.name, m[1], problem)
			}
		}
	}
	if found < 100 {
		t.Errorf("%d links were looked at, want all of them", found)
	}
}

// TestPagesNamedInSourcesExist, with the sections that they name.
func TestPagesNamedInSourcesExist(t *testing.T) {
	t.Parallel()
	found := 0
	for _, name := range sources(t, ".go", ".yml", ".yaml", ".sh", "Makefile") {
		for _, m := range named.FindAllStringSubmatch(read(t, name), -1) {
			target := "/" + m[1]
			if m[2] != "" {
				target += "#" + m[2]
			}
			found++
			if problem := resolve(name, target); problem != "" {
				t.Errorf("%s names %s: %s", name, m[0], problem)
			}
		}
	}
	if found < 30 {
		t.Errorf("%d names were looked at, want all of them", found)
	}
}

// resolve says what is wrong with a link on a page; "" when it leads somewhere. A target that begins with a slash
// begins at the root.
func resolve(from, target string) string {
	file, anchor, anchored := strings.Cut(target, "#")
	switch {
	case file == "":
		file = from
	case strings.HasPrefix(file, "/"):
		file = file[1:]
	default:
		file = path.Join(path.Dir(from), file)
	}
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		if _, err = os.Stat(filepath.Join(root, file)); err != nil {
			return err.Error()
		}
	}
	if anchored && !anchors(string(text))[anchor] {
		return "no such section"
	}
	return ""
}

// anchors returns what the sections of a page are called in links.
func anchors(text string) map[string]bool {
	p := page{lines: parse(text)}
	all := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(p.text(prose), -1) {
		name := anchorOf(m[1])
		for n := 1; all[name]; n++ {
			name = anchorOf(m[1]) + "-" + strconv.Itoa(n)
		}
		all[name] = true
	}
	return all
}

// anchorOf drops all but letters, digits, hyphens and underscores, and writes hyphens for spaces.
func anchorOf(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, title)
}

func TestResolve(t *testing.T) {
	t.Parallel()
	for target, fine := range map[string]bool{
		"api.md": true, "api.md#answers": true, "../README.md#the-first-minute": true, "#tls": true, "/docs": true,
		"api.md#no-such": false, "no-such.md": false, "README.md": false, "#no-such": false,
	} {
		if problem := resolve("docs/api.md", target); (problem == "") != fine {
			t.Errorf("%s: %q", target, problem)
		}
	}
	if got := anchorOf("`a` B, c_d: e-f"); got != "a-b-c_d-e-f" {
		t.Errorf("anchor %s", got)
	}
}

const (
	maxColumns = 120
	maxReadme  = 150 // lines
)

// TestLinesFitAScreen: tables and code can't be wrapped.
func TestLinesFitAScreen(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		if p.name == "README.md" && len(p.lines) > maxReadme {
			t.Errorf("README.md has %d lines, want at most %d", len(p.lines), maxReadme)
		}
		for i, l := range p.lines {
			if n := utf8.RuneCountInString(l.text); n > maxColumns && (l.kind == prose || p.name == "README.md") {
				t.Errorf("%s:%d has %d columns, want at most %d", p.name, i+1, n, maxColumns)
			}
		}
	}
}
