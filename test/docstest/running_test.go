package docstest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/app"
	"github.com/anabranch/anabranch/test/testkit"
)

// environment gives a process ports and data of its own, and the embedded broker.
func environment(t *testing.T) {
	t.Helper()
	for _, name := range []string{"INGEST_ADDR", "ADMIN_ADDR", "RECEIVER_ADDR", "BROKER_ADDR"} {
		t.Setenv(name, "127.0.0.1:0")
	}
	t.Setenv("KAFKA_BROKERS", "")
	t.Setenv("WORKSPACE_FILE", "")
	t.Setenv("DATA_DIR", t.TempDir())
}

// start runs the program until the test ends, and returns what it prints, as it is now.
func start(t *testing.T, args ...string) (printed func() string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- app.Main(ctx, args, app.Streams{Out: out, Err: out}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%q ended with %v", args, err)
		}
		out.Close()
	})
	return func() string {
		t.Helper()
		text, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// started is start, until the program says that it is ready.
func started(t *testing.T, args ...string) (printed func() string) {
	t.Helper()
	printed = start(t, args...)
	testkit.Until(t, func() bool { return strings.Contains(printed(), "Anabranch is ready.") }, "the process to be ready")
	return printed
}

// find returns the first group of a pattern in a text.
func find(t *testing.T, text, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in:\n%s", pattern, text)
	}
	return m[1]
}

// section returns the page between a heading and the next one of the same level.
func section(t *testing.T, name, title string) *page {
	t.Helper()
	_, rest, found := strings.Cut(read(t, name), "\n## "+title+"\n")
	if !found {
		t.Fatalf("%s has no section %q", name, title)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return &page{name, parse(text)}
}

// typedAs returns the only line of a page's code that has a part.
func typedAs(t *testing.T, p *page, part string) string {
	t.Helper()
	lines := slices.DeleteFunc(p.code(), func(text string) bool { return !strings.Contains(text, part) })
	if len(lines) != 1 {
		t.Fatalf("%s has the lines %q with %q, want one", p.name, lines, part)
	}
	return strings.TrimSpace(lines[0])
}

// TestTheTestCommandIsTheOneOfCI: both run every test there is.
func TestTheTestCommandIsTheOneOfCI(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"README.md", "docs/testing.md"} {
		var first string
		for _, text := range open(t, name).code() {
			if text = strings.TrimSpace(text); strings.HasPrefix(text, "go test ") && first == "" {
				first = text
			}
		}
		if first == "" || !strings.Contains(read(t, ".ci/run"), "\nstep "+first+"\n") {
			t.Errorf("%s tests with %q, .ci/run does not", name, first)
		}
	}
}

// TestTheFirstMinute does what the first page says: it starts everything, sends the call and sees the delivery.
// Then the page's workspace is put in force, as the page says.
func TestTheFirstMinute(t *testing.T) {
	environment(t)
	minute := section(t, "README.md", "The first minute")
	args, found := strings.CutPrefix(typedAs(t, minute, "go run"), "go run ./cmd/anabranch ")
	if !found {
		t.Fatal("the first command is no longer go run ./cmd/anabranch")
	}
	printed := started(t, strings.Fields(args)...)

	here := find(t, printed(), `collection API\s+http://([^/]+)/`)
	call := strings.ReplaceAll(typedAs(t, minute, "curl"), "127.0.0.1:8080", here)
	if !strings.Contains(printed(), call) {
		t.Errorf("the page has %s, the program prints\n%s", call, printed())
	}
	if answer := shell(t, call); answer != `{"success":true}` {
		t.Fatalf("%s\n%s", call, answer)
	}
	testkit.Until(t, func() bool { return strings.Contains(printed(), "signature ok") }, "the delivery to be printed with its signature")

	t.Setenv("BROKER_ADDR", find(t, printed(), `embedded broker\s+(\S+),`))
	applyExample(t)
}

// applyExample puts the first page's workspace in force.
func applyExample(t *testing.T) {
	t.Helper()
	example := section(t, "README.md", "A workspace")
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	write(t, file, example.blocks("yaml")[0])
	variable, args, _ := strings.Cut(typedAs(t, example, "apply -f"), " anabranch ")
	name, value, _ := strings.Cut(variable, "=")
	t.Setenv(name, value)
	said, err := program(t, strings.Fields(strings.ReplaceAll(args, "workspace.yaml", file))...)
	if err != nil || !strings.Contains(said, "destination crm") {
		t.Errorf("%s: %v\n%s", args, err, said)
	}
	for i, other := range open(t, "docs/workspace.md").blocks("yaml") {
		write(t, file, other)
		if said, err := program(t, "apply", "-f", file, "--dry-run"); err != nil {
			t.Errorf("example %d of docs/workspace.md: %v\n%s", i+1, err, said)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// shell runs a command line, which needs curl.
func shell(t *testing.T, line string) string {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(line, "curl", "curl -sS --noproxy '*'", 1)).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return string(out)
}
