package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/app/settings"
)

// typed runs a line as the shell would and returns what it prints.
func typed(t *testing.T, line ...string) (string, error) {
	t.Helper()
	c, rest, err := Find(All(stages), line)
	if err != nil {
		return "", err
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	runErr := c.Do(t.Context(), settings.Program{Streams: settings.Streams{Out: out, Err: out}, Stages: stages}, rest)
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), runErr
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct{ out, err string }{
		"apply --help":          {out: "the workspace file"},
		"receive -h":            {out: "shared secret"},
		"apply":                 {err: "expected -f FILE"},
		"apply -f":              {err: "flag needs an argument"},
		"apply -f a b":          {err: `unexpected argument "b"`},
		"status -h":             {out: "Usage: anabranch status [--json] [--since T]"},
		"status --since 0s":     {err: "status: --since=0s: expected a duration of at most 720h"},
		"status --since 721h":   {err: "--since=721h0m0s: expected"},
		"status now":            {err: `status: unexpected argument "now"`},
		"status --jsno":         {err: "status: flag provided but not defined: -jsno: see `anabranch status -h`"},
		"doctor --help":         {out: "(default all stages)"},
		"doctor --stage apply":  {err: "expected one of ingest, router, webhook-sink, status"},
		"receive --port 1":      {err: "flag provided but not defined"},
		"receive --addr nobody": {err: "--addr=nobody: expected host:port"},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			out, err := typed(t, strings.Fields(line)...)
			if !strings.Contains(out, want.out) {
				t.Errorf("printed %q, want %q in it", out, want.out)
			}
			if (err != nil) != (want.err != "") || err != nil && !strings.Contains(err.Error(), want.err) {
				t.Errorf("error %v, want %q", err, want.err)
			}
		})
	}
}

func TestStagesAreNoCommands(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"run", "ingest", "help", ""} {
		if _, _, err := Find(All(stages), []string{name}); err == nil {
			t.Errorf("%q is a command of this package", name)
		}
	}
}

// TestList: those with one summary share a line, and so do those below one.
func TestList(t *testing.T) {
	t.Parallel()
	got := List([]Command{
		{Name: "ingest", Summary: "one stage"},
		{Name: "router", Summary: "one stage"},
		{Name: "apply", Args: "-f FILE", Summary: "in\ntwo lines"},
		{Name: "letters", Summary: "look", Below: []Command{{Name: "list"}, {Name: "show"}}},
		{Name: "version"},
		{Name: "other"},
	})
	want := `  anabranch ingest|router     one stage
  anabranch apply -f FILE     in
                              two lines
  anabranch letters list|show look
  anabranch version
  anabranch other
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}
