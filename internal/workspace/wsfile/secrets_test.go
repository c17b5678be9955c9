package wsfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
)

// sharedSecretOf parses a destination with a shared secret written as text.
func sharedSecretOf(t *testing.T, text string) string {
	t.Helper()
	d, _ := parse(t, destination(connected+delivered+"sharedSecret: "+text)).Destination("crm")
	return d.SharedSecret.Reveal()
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain":                  "plain",
		"'  spaced '":            "  spaced ",
		"0x10":                   "0x10", // numbers keep their form
		"1.0":                    "1.0",
		"true":                   "true",
		"2026-01-02":             "2026-01-02",
		"{env: CRM_SECRET}":      wstest.Canary,
		"{file: secrets/crm}":    wstest.Canary, // relative to the file's folder
		"{file: /etc/crm}":       wstest.Canary, // written on Windows
		"{file: two}":            "a\n",         // one line end is the editor's, the other the secret's
		`"{env: CRM_SECRET}"`:    "{env: CRM_SECRET}",
		"!!str 12":               "12",
		"{file: ../conf/two}":    "a\n",
		"\"caf\\u00e9 \\u2603\"": "café ☃",
	} {
		if got := sharedSecretOf(t, text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestSecretsThatAreNone(t *testing.T) {
	t.Parallel()
	const path = "12: destinations[0].sharedSecret"
	tests := map[string]string{
		"{env: MISSING}":              path + `.env: "MISSING": expected an environment variable that is set and not empty`,
		"{env: EMPTY}":                path + `.env: "EMPTY": expected an environment variable that is set and not empty`,
		"{env: }":                     path + `.env: nothing: expected the name of an environment variable`,
		"{env: [A]}":                  path + `.env: a list: expected the name of an environment variable`,
		"{file: missing}":             path + `.file: "missing": expected a readable file (file does not exist)`,
		"{file: }":                    path + `.file: nothing: expected the path of a file`,
		"{file: empty}":               path + `.file: "empty": expected a file that is not empty`,
		"{file: newline}":             path + `.file: "newline": expected a file that is not empty`,
		"{file: binary}":              path + ": a mapping: expected UTF-8 text of 1 to 4096 bytes",
		"{}":                          path + ": a mapping: expected text, {env: NAME} or {file: PATH}",
		"{env: A, file: b}":           path + ": a mapping: expected text, {env: NAME} or {file: PATH}",
		"{" + wstest.Canary + "}":     path + ": a mapping: expected text, {env: NAME} or {file: PATH}",
		"{{ " + wstest.Canary + " }}": path + ": a mapping: expected a key that is text",
		"[" + wstest.Canary + "]":     path + ": a list: expected text, {env: NAME} or {file: PATH}",
		"!!binary aGVsbG8=":           path + `: a value tagged "!!binary": expected text, {env: NAME} or {file: PATH}`,
		strings.Repeat("a", 4097):     path + ": [redacted]: expected UTF-8 text of 1 to 4096 bytes",
	}
	for text, want := range tests {
		got := problemsOf(t, destination(connected+delivered+"sharedSecret: "+text))
		if diff := cmp.Diff(want, got[0]); diff != "" {
			t.Errorf("%.40s (-want +got):\n%s", text, diff)
		}
		if strings.Contains(strings.Join(got, "\n"), wstest.Canary) {
			t.Errorf("%s is shown: %s", text, got)
		}
	}
}

func TestSystemLookup(t *testing.T) {
	t.Setenv("ANABRANCH_TEST_SECRET", wstest.Canary)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("wk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := "sources: [{id: a, writeKey: {file: key}}, {id: b, writeKey: {env: ANABRANCH_TEST_SECRET}}]\ndestinations: []\n"
	s, err := Parse(filepath.Join(dir, "workspace.yaml"), []byte(text), SystemLookup())
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"wk": "a", wstest.Canary: "b"} {
		if source, _ := s.SourceByKey(key); source.ID != want {
			t.Errorf("source of %q: %q, want %q", key, source.ID, want)
		}
	}
}

// TestReferencesAreRefused, and nothing that they lead to is read.
func TestReferencesAreRefused(t *testing.T) {
	t.Parallel()
	text := "sources: [{id: a, name: A, writeKey: {file: key}}, {id: b, name: B, writeKey: {env: CRM_SECRET}}]\ndestinations: []\n"
	_, err := Parse("the file", []byte(text), Lookup{Refused: "the secret itself"})
	want := "the file:1: sources[0].writeKey.file: \"key\": expected the secret itself\nthe file:1: sources[1].writeKey.env: \"CRM_SECRET\": expected the secret itself"
	if err == nil || err.Error() != want {
		t.Errorf("found %v, want %s", err, want)
	}
}

func TestReadFileReadsNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	text, err := readFile("/dev/zero")
	if err != nil {
		t.Skipf("no /dev/zero: %v", err)
	}
	if len(text) != MaxBytes+1 {
		t.Errorf("%d bytes", len(text))
	}
}
