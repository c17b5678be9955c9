package docstest

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

// commandsPage is what the program says of itself.
const commandsPage = "docs/cli.md"

const commandsHead = `# Commands

What ` + "`anabranch help`" + ` prints, and ` + "`anabranch help COMMAND`" + ` for each command. Settings are environment
variables: [configuration.md](configuration.md).

Commands that talk to a broker use ` + "`KAFKA_BROKERS`" + `, or else the embedded broker of a running ` + "`anabranch run`" + ` at
` + "`BROKER_ADDR`" + `. What their own environment leaves open is then as in the process of ` + "`DATA_DIR`" + `, which keeps its settings
there in ` + "`settings.json`" + ` while it runs, without secrets. A stage whose brokers are unreachable keeps trying; every other
command gives up after ten seconds with exit code 1. SIGTERM and SIGINT stop a process in order, with exit code 0.

<!-- written by: go test ./test/docstest -update -->

`

var synopsis = regexp.MustCompile(`(?m)^  anabranch ([a-z|-]+)(?: ([a-z]+(?:\|[a-z]+)+))?`)

// commands returns the names that the general help lists, such as "apply" and "dead-letters list".
func commands(t *testing.T, help string) []string {
	t.Helper()
	var all []string
	for _, m := range synopsis.FindAllStringSubmatch(help, -1) {
		for name := range strings.SplitSeq(m[1], "|") {
			if !slices.Contains(all, name) { // that of a stage may have others below it
				all = append(all, name)
			}
			if m[2] == "" {
				continue
			}
			for below := range strings.SplitSeq(m[2], "|") {
				all = append(all, name+" "+below)
			}
		}
	}
	if len(all) < 12 {
		t.Fatalf("the help lists %q, want every command", all)
	}
	return all
}

// TestTheCommandsPage: the page has the help of every command.
func TestTheCommandsPage(t *testing.T) {
	t.Parallel()
	help, err := program(t, "help")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(commandsHead + "```text\n" + help + "```\n")
	for _, name := range commands(t, help) {
		text, err := program(t, append([]string{"help"}, strings.Fields(name)...)...)
		if err != nil {
			t.Fatalf("help %s: %v", name, err)
		}
		if text != help { // all there is to say of it
			b.WriteString("\n## anabranch " + name + "\n\n```text\n" + text + "```\n")
		}
	}
	testkit.Golden(t, filepath.Join(root, commandsPage), []byte(b.String()), *update)
}

const (
	keysBegin = "<!-- workspace:begin -->\n"
	keysEnd   = "<!-- workspace:end -->\n"
)

// TestTheWorkspacePage: its reference is what the program prints.
func TestTheWorkspacePage(t *testing.T) {
	t.Parallel()
	const name = "docs/workspace.md"
	head, rest, _ := strings.Cut(read(t, name), keysBegin)
	_, tail, found := strings.Cut(rest, keysEnd)
	if !found {
		t.Fatalf("%s has no marks for the reference", name)
	}
	help, err := program(t, "help", "workspace")
	if err != nil {
		t.Fatal(err)
	}
	want := head + keysBegin + "```text\n" + help + "```\n" + keysEnd + tail
	testkit.Golden(t, filepath.Join(root, name), []byte(want), *update)
}
