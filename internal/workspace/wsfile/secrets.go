package wsfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/anabranch/anabranch/schemas"
)

// Lookup is how a workspace file and the secrets it refers to are read.
type Lookup struct {
	Env  func(name string) (value string, set bool) // {env: NAME}
	File func(path string) ([]byte, error)          // the file itself, and {file: PATH}; relative paths come joined to the file's folder
}

// SystemLookup reads the environment and the file system.
func SystemLookup() Lookup {
	return Lookup{Env: os.LookupEnv, File: readFile}
}

// readFile reads a file of at most [maxFileBytes], and one byte of a larger
// one, so that whoever checks the size sees that it is larger.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // which files to read is what the operator configures
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	return io.ReadAll(io.LimitReader(file, maxFileBytes+1))
}

const wantText = "text, {env: NAME} or {file: PATH}"

// secret returns the secret at the place: a literal, or what it refers to.
func (v value) secret(check func(string) string) (schemas.Secret, bool) {
	if v.absent() {
		return "", false
	}
	v.hidden = true
	text, ok := v.reveal()
	if !ok {
		return "", false
	}
	if objection := check(text); objection != "" {
		v.expected(objection)
		return "", false
	}
	return schemas.Secret(text), true
}

func (v value) reveal() (string, bool) {
	if kindOf(v.node) != "a mapping" {
		return v.text(wantText)
	}
	entries := v.entries(wantText)
	if len(entries) != 1 {
		v.expected(wantText)
		return "", false
	}
	e := entries[0]
	e.value.hidden = false // the name of a variable or file, which people need to see
	switch e.key.node.Value {
	case "env":
		return e.value.fromEnv()
	case "file":
		return e.value.fromFile()
	default:
		v.expected(wantText)
		return "", false
	}
}

func (v value) fromEnv() (string, bool) {
	name, ok := v.text("the name of an environment variable")
	if !ok {
		return "", false
	}
	text, set := v.lookup.Env(name)
	if !set || text == "" {
		v.expected("an environment variable that is set and not empty")
		return "", false
	}
	return text, true
}

func (v value) fromFile() (string, bool) {
	path, ok := v.text("the path of a file")
	if !ok {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(v.file), path)
	}
	content, err := v.lookup.File(path)
	if err != nil {
		v.expected(fmt.Sprintf("a readable file (%s)", cause(err)))
		return "", false
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	if text == "" {
		v.expected("a file that is not empty")
		return "", false
	}
	return text, true
}

// cause leaves the operation and the path out, which the problem names already.
func cause(err error) error {
	if pathError, ok := errors.AsType[*os.PathError](err); ok {
		return pathError.Err
	}
	return err
}
