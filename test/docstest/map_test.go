package docstest

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	quoted = regexp.MustCompile("`([^`]+)`")
	mapped = regexp.MustCompile(`^[a-z][\w/*{},-]*$`)
	braces = regexp.MustCompile(`^(.*)\{([^}]*)\}(.*)$`)
)

// TestFileMap: each row of the map in DESIGN.md begins with folders that exist and names files and folders below them,
// and each package of the repository is below one of those folders.
func TestFileMap(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(read(t, "DESIGN.md"), "## File map\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var covered []string
	for row := range strings.Lines(section) {
		cells := strings.Split(row, "|")
		if len(cells) < 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		folders := foldersOf(t, strings.Trim(cells[1], " `"))
		covered = append(covered, folders...)
		for _, m := range quoted.FindAllStringSubmatch(strings.Join(cells[2:], "|"), -1) {
			if mapped.MatchString(m[1]) && !isBelow(folders, m[1]) {
				t.Errorf("the file map names %s in the row of %s, where there is none", m[1], cells[1])
			}
		}
	}
	if len(covered) < 40 {
		t.Errorf("the file map has %d folders, want all of them", len(covered))
	}
	for _, name := range sources(t, ".go") {
		if !slices.ContainsFunc(covered, func(folder string) bool { return strings.HasPrefix(name, folder+"/") }) {
			t.Errorf("%s is in no row of the file map", name)
		}
	}
}

// foldersOf returns the folders that a row is about, from the root.
func foldersOf(t *testing.T, pattern string) []string {
	t.Helper()
	var all []string
	for _, each := range expand(pattern) {
		found, err := filepath.Glob(filepath.Join(root, each))
		if err != nil || len(found) == 0 {
			t.Errorf("the file map names %s, which does not exist", each)
		}
		for _, folder := range found {
			all = append(all, strings.TrimPrefix(filepath.ToSlash(folder), root+"/"))
		}
	}
	return all
}

// expand writes a list in braces out.
func expand(pattern string) []string {
	m := braces.FindStringSubmatch(pattern)
	if m == nil {
		return []string{pattern}
	}
	var all []string
	for each := range strings.SplitSeq(m[2], ",") {
		all = append(all, m[1]+each+m[3])
	}
	return all
}

// isBelow reports whether one of the folders, or the room that they share, has what a row names: files or folders. Names
// of commands, and paths from the root, count too.
func isBelow(folders []string, name string) bool {
	within := []string{"internal/app/command", ""}
	for _, folder := range folders {
		within = append(within, folder, folder+"/internal", path.Dir(folder)+"/internal", path.Dir(folder))
	}
	return !slices.ContainsFunc(expand(name), func(pattern string) bool { // that is nowhere
		return !slices.ContainsFunc(within, func(folder string) bool {
			there, _ := filepath.Glob(filepath.Join(root, folder, pattern))
			files, _ := filepath.Glob(filepath.Join(root, folder, pattern+".go"))
			return len(there)+len(files) > 0
		})
	})
}
