package app

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// typed runs Main as the shell would and returns what it prints.
func typed(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	mainErr := Main(t.Context(), args, Streams{Out: out, Err: out})
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), mainErr
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct{ out, err string }{
		"":                       {out: "anabranch run"},
		"help":                   {out: "anabranch run"},
		"--help":                 {out: "anabranch run"},
		"run --help":             {out: "Usage: anabranch run\n"},
		"help ingest":            {out: "its own begin with INGEST_"},
		"router -h":              {out: "exactly once"},
		"help status":            {out: "Usage: anabranch status"},
		"help doctor":            {out: "--stage"},
		"help dead-letters":      {out: "dead-letters show [--json] ID"},
		"help dead-letters list": {out: "Usage: anabranch dead-letters list"},
		"help version":           {out: "anabranch version"},
		"help start":             {err: `unknown command "start"`},
		"help config":            {out: "WEBHOOK_SINK_RETRY_WINDOW"},
		"help workspace":         {out: "sharedSecret:"},
		"version":                {out: "anabranch "},
		"apply":                  {err: "expected -f FILE"},
		"run now":                {err: `unexpected argument "now"`},
		"start":                  {err: `unknown command "start"`},
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

// TestEveryTargetHasHelp: those of the table, and no others.
func TestEveryTargetHasHelp(t *testing.T) {
	t.Parallel()
	texts := targetTexts()
	for _, name := range Targets() {
		if texts[name] == "" {
			t.Errorf("%s has no help", name)
		}
	}
	if len(texts) != len(Targets()) {
		t.Errorf("%d texts for %d targets", len(texts), len(Targets()))
	}
}

// TestImagesNameTheirVersion, or a rolling upgrade would look like none in
// anabranch_build_info. The linker says nothing of a variable that it does not find.
func TestImagesNameTheirVersion(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if flag := "-X " + reflect.TypeFor[run]().PkgPath() + ".release=${VERSION}"; !strings.Contains(string(text), flag) {
		t.Errorf("the Dockerfile does not build with %s", flag)
	}
	defer func(was string) { release = was }(release)
	release = "v1.2.3"
	if got := version(); got != release {
		t.Errorf("version is %q, want %q", got, release)
	}
}
