package docstest

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/app"
	"github.com/anabranch/anabranch/schemas"
)

// program runs the product with arguments that make it end by itself, and returns what it prints.
func program(t *testing.T, args ...string) (string, error) {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "printed")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	failed := app.Main(t.Context(), args, app.Streams{Out: file, Err: file})
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), failed
}

var (
	// Not a flag's value ("-n anabranch"), not a part of another word.
	command     = regexp.MustCompile("(?:^|[\\s`(/]|go run ./cmd/)anabranch ([a-z-]+)([^#|`]*)")
	namespace   = regexp.MustCompile(`-n anabranch `)
	placeholder = regexp.MustCompile(`[\[\]…|<>]|\.\.\.| [A-Z]+\b`)
	flagName    = regexp.MustCompile(`(?:^|[\s\[])(--?[a-z][a-z-]*)`)
)

// TestCommandsParse: those that pages show have a name and flags that the program knows. One that can be typed as it
// stands is parsed by the program itself; of a synopsis the flags are looked up in its help.
func TestCommandsParse(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, p := range pages(t) {
		if p.name == commandsPage { // the program's own words
			continue
		}
		for _, text := range p.typed() {
			for _, m := range command.FindAllStringSubmatch(namespace.ReplaceAllString(text, ""), -1) {
				seen++
				if problem := parses(t, m[1], m[2]); problem != "" {
					t.Errorf("%s: %s: %s", p.name, strings.TrimSpace(m[0]), problem)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d commands were looked at, want all of them", seen)
	}
}

// parses says what is wrong with a command. Asked for help behind its other arguments, the program parses those first.
func parses(t *testing.T, name, rest string) string {
	t.Helper()
	if name == "help" || name == "version" {
		_, err := program(t, append([]string{name}, strings.Fields(rest)...)...)
		return said(err)
	}
	args := []string{name}
	words := strings.Fields(rest)
	if (name == "dead-letters" || name == "personas") && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		args, words = append(args, words[0]), words[1:]
	}
	if !placeholder.MatchString(rest) {
		_, err := program(t, slices.Concat(args, words, []string{"-h"})...)
		return said(err)
	}
	help, err := program(t, append(args, "-h")...)
	if err != nil {
		return said(err)
	}
	for _, m := range flagName.FindAllStringSubmatch(rest, -1) {
		if !strings.Contains(help, "  --"+strings.TrimLeft(m[1], "-")+" ") {
			return "no flag " + m[1]
		}
	}
	return ""
}

func said(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestParses(t *testing.T) {
	t.Parallel()
	for text, fine := range map[string]bool{
		"run": true, "apply -f workspace.yaml --dry-run": true, "dead-letters redrive --destination D --since T": true, "dead-letters show 3-17": true,
		"help config": true, "version": true, "apply --dry-ran": false, "runs": false, "dead-letters redrive --rates N": false, "status --since x": false, "help nothing": false,
	} {
		name, rest, _ := strings.Cut(text, " ")
		if problem := parses(t, name, rest); (problem == "") != fine {
			t.Errorf("%s: %q", text, problem)
		}
	}
}

// notSettings look like settings and are none of the product's.
var notSettings = map[string]string{
	"COLD_ACCESS_KEY": "a secret that a workspace names in docs/archive.md",
	"COLD_SECRET_KEY": "another one",
	"CRM_SECRET":      "of the example", "SHARED_SECRET": "of the sample",
	"OTEL_RESOURCE_ATTRIBUTES": "read by the library", "OTEL_BSP_": "read by the library",
	"KAFKA_VERSION": "of scripts/kafka", "ANABRANCH_TEST_MESSAGES": "of a test",
	"DELETE_ONLY": "a type of request", "SUPPRESS_ONLY": "a type of request", "SUPPRESS_WITH_DELETE": "a type of request", "USER_ID": "a type of subject",
	"NOT_COORDINATOR": "an error of Kafka", "UNKNOWN_SERVER_ERROR": "an error of Kafka",
	"SASL_PLAINTEXT": "a setting of Kafka clients", "RECORD_LIST_TOO_LARGE": "an error of Kafka",
	"PATH_OR_URL_OF_THE_SCHEMA": "a placeholder", "WRITE_KEY": "a placeholder",
}

var capitals = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]*)+`)

// settings returns the names that the program reads.
func settings(t *testing.T) []string {
	t.Helper()
	help, err := program(t, "help", "config")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for each := range strings.Lines(help) {
		if name, _, _ := strings.Cut(each, " "); name != "VARIABLE" && capitals.FindString(name) == name {
			all = append(all, name)
		}
	}
	if len(all) < 50 {
		t.Fatalf("the program lists the settings %q", all)
	}
	return all
}

// TestSettingsExist: pages name variables that the program reads, or begin their names.
func TestSettingsExist(t *testing.T) {
	t.Parallel()
	known, unused, seen := settings(t), maps.Clone(notSettings), 0
	for _, p := range pages(t) {
		for _, text := range p.typed() {
			for _, name := range capitals.FindAllString(text, -1) {
				seen++
				delete(unused, name)
				_, another := notSettings[name]
				is := func(setting string) bool {
					// NAME_FILE names a file that holds the secret NAME.
					return setting == name || setting == strings.TrimSuffix(name, "_FILE") || strings.HasSuffix(name, "_") && strings.HasPrefix(setting, name)
				}
				if !another && !slices.ContainsFunc(known, is) {
					t.Errorf("%s: %s in %q is no setting", p.name, name, text)
				}
			}
		}
	}
	if seen < 150 || len(unused) > 0 {
		t.Errorf("%d names were looked at; no page has %v", seen, unused)
	}
}

var (
	makes  = regexp.MustCompile(`(?:^|[\s(])make((?: [a-z][a-z-]*)+)`)
	target = regexp.MustCompile(`(?m)^([a-z][a-z -]*):`)
)

func TestMakeTargetsExist(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	for _, m := range target.FindAllStringSubmatch(read(t, "Makefile"), -1) {
		for name := range strings.FieldsSeq(m[1]) {
			known[name] = true
		}
	}
	seen := 0
	for _, p := range pages(t) {
		for _, text := range p.typed() {
			text, _, _ = strings.Cut(text, "  #")
			for _, m := range makes.FindAllStringSubmatch(text, -1) {
				for name := range strings.FieldsSeq(m[1]) {
					seen++
					if !known[name] {
						t.Errorf("%s: %q: no target %s", p.name, text, name)
					}
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d targets were looked at, want all of them", seen)
	}
}

var goTest = regexp.MustCompile(`go test (?:-\w+ )*-run (\w+)(?: -\w+)* (\./[\w/-]+)`)

// TestTestsExist: those that pages name by themselves.
func TestTestsExist(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, p := range pages(t) {
		for _, text := range p.typed() {
			m := goTest.FindStringSubmatch(text)
			if m == nil {
				continue
			}
			seen++
			found := false
			for _, name := range sources(t, "_test.go") {
				inside := strings.HasPrefix(name, strings.TrimPrefix(m[2], "./")+"/")
				found = found || inside && regexp.MustCompile(`(?m)^func Test\w*`+strings.TrimPrefix(m[1], "Test")).MatchString(read(t, name))
			}
			if !found {
				t.Errorf("%s: %q: no such test", p.name, text)
			}
		}
	}
	if seen == 0 {
		t.Error("no test was looked at")
	}
}

// testName is a test by its name.
var testName = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*\b`)

// TestNamedTestsExist: what is not obvious names the test that holds it, and a test that was renamed since holds nothing.
func TestNamedTestsExist(t *testing.T) {
	t.Parallel()
	exist := make(map[string]bool)
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	for _, name := range sources(t, "_test.go") {
		for _, m := range declared.FindAllStringSubmatch(read(t, name), -1) {
			exist[m[1]] = true
		}
	}
	seen := 0
	for _, name := range sources(t, ".go", "DESIGN.md") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, test := range namedTests(read(t, name), strings.HasSuffix(name, ".go")) {
			seen++
			if !exist[test] {
				t.Errorf("%s names %s, which no test is called", name, test)
			}
		}
	}
	if seen < 200 {
		t.Errorf("%d names were looked at, want all of them", seen)
	}
}

// namedTests returns the tests that a text names: a source in its comments, any other text anywhere.
func namedTests(text string, source bool) []string {
	var all []string
	for line := range strings.Lines(text) {
		if _, comment, found := strings.Cut(line, "//"); source {
			if !found {
				continue
			}
			line = comment
		}
		all = append(all, testName.FindAllString(line, -1)...)
	}
	return all
}

func TestNamedTests(t *testing.T) {
	t.Parallel()
	text := "x.TestInCode() // (TestInAComment,\n//  FuzzToo). Not aTestOfNobody, nor Testing.\n"
	if got, want := namedTests(text, true), []string{"TestInAComment", "FuzzToo"}; !slices.Equal(got, want) {
		t.Errorf("of a source: %q, want %q", got, want)
	}
	if got, want := namedTests(text, false), []string{"TestInCode", "TestInAComment", "FuzzToo"}; !slices.Equal(got, want) {
		t.Errorf("of another text: %q, want %q", got, want)
	}
}

// TestWordsAreExplained: the answers and reasons of the product each have a row.
func TestWordsAreExplained(t *testing.T) {
	t.Parallel()
	api, letters := read(t, "docs/api.md"), read(t, "docs/dead-letters.md")
	for _, code := range schemas.Codes() {
		if !strings.Contains(api, "`"+string(code)+"`") {
			t.Errorf("docs/api.md does not explain %s", code)
		}
	}
	for _, reason := range schemas.Reasons() {
		if !strings.Contains(letters, "`"+string(reason)+"`") {
			t.Errorf("docs/dead-letters.md does not explain %s", reason)
		}
	}
}
