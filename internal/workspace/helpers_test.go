package workspace

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
)

// canary is a secret that no output may hold.
const canary = "canary-4f1d"

// crm is a workspace of one source and one destination that uses every key.
const crm = `sources:
  - id: website
    name: Website
    writeKey: wk_website
    enabled: true
destinations:
  - id: crm
    type: webhooks
    name: CRM
    sources: [website]
    enabled: true
    sharedSecret: {env: CRM_SECRET}
    endpoints:
      - url: https://crm.example.com/hooks/events
        headers: {X-Team: growth}
`

// lookup resolves {env: CRM_SECRET} and a few files.
func lookup() Lookup {
	env := map[string]string{"CRM_SECRET": canary, "EMPTY": ""}
	files := map[string]string{
		"conf/secrets/crm": canary + "\n",
		"/etc/crm":         canary + "\r\n",
		"conf/two":         "a\n\n",
		"conf/empty":       "",
		"conf/newline":     "\n",
		"conf/binary":      "\xff\xfe",
	}
	return Lookup{
		Env: func(name string) (string, bool) {
			text, set := env[name]
			return text, set
		},
		File: func(path string) ([]byte, error) {
			text, ok := files[path]
			if !ok {
				return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
			}
			return []byte(text), nil
		},
	}
}

func parse(tb testing.TB, text string) *Snapshot {
	tb.Helper()
	s, err := Parse("conf/workspace.yaml", []byte(text), lookup())
	if err != nil {
		tb.Fatalf("Parse: %v", err)
	}
	return s
}

// problemsOf returns the lines of the error that text has, without the file.
func problemsOf(tb testing.TB, text string) []string {
	tb.Helper()
	_, err := Parse("conf/workspace.yaml", []byte(text), lookup())
	if err == nil {
		tb.Fatal("Parse: no error")
	}
	if _, ok := errors.AsType[*FileError](err); !ok {
		tb.Fatalf("Parse: %T, want *FileError", err)
	}
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		rest, ok := strings.CutPrefix(line, "conf/workspace.yaml:")
		if !ok {
			tb.Errorf("line without the file: %s", line)
		}
		lines[i] = rest
	}
	return lines
}

// equal compares snapshots by what they hold.
func equal(tb testing.TB, got, want *Snapshot) {
	tb.Helper()
	revealed := cmp.Transformer("reveal", func(s schemas.Secret) string { return s.Reveal() })
	if diff := cmp.Diff(want.Sources(), got.Sources()); diff != "" {
		tb.Errorf("sources (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Destinations(), got.Destinations(), revealed); diff != "" {
		tb.Errorf("destinations (-want +got):\n%s", diff)
	}
}

// logs collects log lines.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// count returns how many lines hold text.
func (l *logs) count(text string) int {
	n := 0
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func (l *logs) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
