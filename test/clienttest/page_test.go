package clienttest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPage shows that each program of the client's page is one of its examples, which
// are compiled and run.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/analytics.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../analytics/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	var examples strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		examples.WriteString(flat(string(text)))
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 7 {
		t.Errorf("the page has %d programs", len(blocks))
	}
	for _, block := range blocks {
		if program := flat(block[1]); !strings.Contains(examples.String(), program) {
			t.Errorf("no example has\n%s", block[1])
		}
	}
}

// flat returns a program without imports, indentation and empty lines.
func flat(program string) string {
	var lines strings.Builder
	for line := range strings.Lines(program) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "import ") {
			lines.WriteString(line + "\n")
		}
	}
	return lines.String()
}
