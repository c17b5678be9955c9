package docstest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// A page shows a picture in Markdown, or by elements where it has two, for light and dark.
	shown   = regexp.MustCompile(`!\[[^\]]*\]\(([^)\s]+)\)|\bsrc(?:set)?="([^"]+)"`)
	picture = regexp.MustCompile(`!\[[^\]]*\]\(|<img\b[^>]*>`)
	words   = regexp.MustCompile(`!\[\s*\w|\balt="\s*\w`)
)

const maxPicture = 150_000 // bytes

// TestPictures: each one that a page shows is there and says in words what is on it, each that is there is small and
// shown, and the console's page has all of the console's.
func TestPictures(t *testing.T) {
	t.Parallel()
	shownOn := make(map[string][]string) // pages, by the file
	for _, p := range pages(t) {
		text := p.text(prose, table)
		for _, m := range picture.FindAllString(text, -1) {
			if !words.MatchString(m) {
				t.Errorf("%s: nothing says what is on %s", p.name, m)
			}
		}
		for _, m := range shown.FindAllStringSubmatch(text, -1) {
			target := m[1] + m[2]
			if strings.Contains(target, "://") {
				continue
			}
			file := path.Join(path.Dir(p.name), target)
			shownOn[file] = append(shownOn[file], p.name)
			if problem := resolve(p.name, target); problem != "" {
				t.Errorf("%s: picture %s: %s", p.name, target, problem)
			}
		}
	}
	there, err := filepath.Glob(filepath.Join(root, "docs/images/*"))
	if err != nil || len(there) == 0 {
		t.Fatalf("%d pictures, %v", len(there), err)
	}
	for _, file := range there {
		name := "docs/images/" + filepath.Base(file)
		switch info, err := os.Stat(file); {
		case err != nil:
			t.Error(err)
		case info.Size() > maxPicture:
			t.Errorf("%s has %d bytes, want at most %d", name, info.Size(), maxPicture)
		case len(shownOn[name]) == 0:
			t.Errorf("no page shows %s", name)
		case strings.HasPrefix(filepath.Base(file), "console-") && !strings.Contains(strings.Join(shownOn[name], " "), "docs/console.md"):
			t.Errorf("docs/console.md does not show %s", name)
		}
	}
}
