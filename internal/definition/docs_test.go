package definition

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// fenced are the YAML examples of a page.
var fenced = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestExamplesOfThePage reads each of them: those that have sources and destinations in
// their own world, the others in that of the tests.
func TestExamplesOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/personas.md")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, match := range fenced.FindAllStringSubmatch(string(page), -1) {
		var doc struct {
			Sources      []struct{ ID string }
			Destinations []struct {
				ID      string
				Sources []string
			}
		}
		if err := yaml.Unmarshal([]byte(match[1]), &doc); err != nil {
			t.Fatalf("%v\n%s", err, match[1])
		}
		in := world()
		for _, s := range doc.Sources {
			in.Sources = append(in.Sources, s.ID)
		}
		for _, d := range doc.Destinations {
			in.Destinations[d.ID] = strings.Contains(strings.Join(d.Sources, " "), ReservedID)
		}
		f, err := readFile(match[1], in)
		if err != nil || len(f.found) > 0 {
			t.Errorf("%v, %v\n%s", err, f.lines(), match[1])
		}
		read += len(f.audiences) + len(f.traits)
	}
	if read < 16 {
		t.Errorf("%d definitions were read", read)
	}
}
