package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestEveryPageIsAsked, but for those of what was begun from a page.
func TestEveryPageIsAsked(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("../../internal/console/page.go")
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{"/job": true, "/test-send": true}
	l := lab{size: size{destinations: 10, users: 10}}
	for _, q := range l.pages() {
		path, _, _ := strings.Cut(q.page, "?")
		asked[path] = true
	}
	paths := regexp.MustCompile(`\{path: "(/[^"{]*)`).FindAllSubmatch(table, -1)
	if len(paths) < 20 {
		t.Fatalf("found %d pages in the table of the console", len(paths))
	}
	for _, path := range paths {
		if !asked[string(path[1])] {
			t.Errorf("%s is not asked for", path[1])
		}
	}
}
