package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

var update = flag.Bool("update", false, "write the snippets of docs/sdks.md anew")

const page = "../../docs/sdks.md"

var (
	// snippetMark stands before a block of code of the page and names a driver's folder.
	snippetMark = regexp.MustCompile("(?m)^<!-- snippet: ([a-z0-9-]+) -->\n```([a-z]+)\n[^`]*```\n")
	region      = regexp.MustCompile(`(?s)[ \t]*(?://|#) snippet:begin\n(.*?)[ \t]*(?://|#) snippet:end\n`)
	testOnly    = regexp.MustCompile(`(?m)^.*(?://|#) test only\n`)
	indent      = regexp.MustCompile(`^[ \t]*`)
)

// spelled replaces what a driver finds in its environment by what a user writes.
var spelled = strings.NewReplacer(
	`process.env.WRITE_KEY`, `'wk_website'`, `process.env.ENDPOINT`, `'https://events.example.com'`,
	`job.writeKey`, `'wk_website'`, `job.endpoint`, `'https://events.example.com'`,
	`os.environ["WRITE_KEY"]`, `"wk_website"`, `os.environ["ENDPOINT"]`, `"https://events.example.com"`,
	`os.Getenv("WRITE_KEY")`, `"wk_website"`, `os.Getenv("ENDPOINT")`, `"https://events.example.com"`,
	`env.get("WRITE_KEY")`, `"wk_website"`, `env.get("ENDPOINT")`, `"https://events.example.com"`,
	`host + "/v1"`, `"events.example.com/v1"`,
)

// snippet returns the region of a driver that points its SDK at the product, as a
// user writes it.
func snippet(tb testing.TB, folder string) string {
	tb.Helper()
	names, err := filepath.Glob("drivers/" + folder + "/*")
	if err != nil {
		tb.Fatal(err)
	}
	names = append(names, "drivers/"+folder+"/src/main/java/Driver.java")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // a folder, or no such driver in Java
		}
		if found := region.FindStringSubmatch(string(text)); found != nil {
			return spelled.Replace(outdent(testOnly.ReplaceAllString(found[1], "")))
		}
	}
	tb.Fatalf("no file of drivers/%s has a region between snippet:begin and snippet:end", folder)
	return ""
}

// outdent takes the first line's indentation from all of them.
func outdent(text string) string {
	return strings.ReplaceAll("\n"+text, "\n"+indent.FindString(text), "\n")[1:]
}

// What the page tells to paste is what the drivers run.
func TestTheSnippetsOfThePageAreTheDrivers(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	want := snippetMark.ReplaceAllStringFunc(string(text), func(block string) string {
		parts := snippetMark.FindStringSubmatch(block)
		shown[parts[1]] = true
		return "<!-- snippet: " + parts[1] + " -->\n```" + parts[2] + "\n" + snippet(t, parts[1]) + "```\n"
	})
	testkit.Golden(t, page, []byte(want), *update)
	for _, d := range drivers() {
		if !shown[d.Folder] {
			t.Errorf("%s: the page has no block of code behind <!-- snippet: %s -->", d.Name, d.Folder)
		}
	}
}

func TestASnippetIsWhatAUserWrites(t *testing.T) {
	for folder, want := range map[string]string{
		"go3":    "client, err := analytics.NewWithConfig(\"wk_website\", analytics.Config{\n\tEndpoint: \"https://events.example.com\",\n})\n",
		"python": "client = Client(\n    \"wk_website\",\n    host=\"https://events.example.com\",\n)\n",
	} {
		if got := snippet(t, folder); got != want {
			t.Errorf("%s: %q, expected %q", folder, got, want)
		}
	}
}
