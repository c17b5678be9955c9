package wsfile

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
)

// crm uses every key.
const crm = wstest.File

// lookup resolves {env: CRM_SECRET} and a few files.
func lookup() Lookup {
	env := map[string]string{"CRM_SECRET": wstest.Canary, "EMPTY": ""}
	files := map[string]string{
		"conf/secrets/crm": wstest.Canary + "\n",
		"/etc/crm":         wstest.Canary + "\r\n",
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

func parse(tb testing.TB, text string) *workspace.Snapshot {
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
	if _, ok := errors.AsType[*Error](err); !ok {
		tb.Fatalf("Parse: %T, want *Error", err)
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
