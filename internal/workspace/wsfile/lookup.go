package wsfile

import (
	"io"
	"os"
)

// Lookup is how a workspace file and the secrets it refers to are read.
type Lookup struct {
	Env  func(name string) (value string, set bool) // {env: NAME}
	File func(path string) ([]byte, error)          // the file itself, and {file: PATH}; relative paths come joined to the file's folder
	// Refused is what is expected in the place of {env: NAME} and {file: PATH}, for a file of
	// somebody who may not read what they lead to; empty: they are followed.
	Refused string
}

// SystemLookup reads the environment and the file system.
func SystemLookup() Lookup {
	return Lookup{Env: os.LookupEnv, File: readFile}
}

// readFile reads a file of at most [MaxBytes], and one byte of a larger
// one, so that whoever checks the size sees that it is larger.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // which files to read is what the operator configures
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	return io.ReadAll(io.LimitReader(file, MaxBytes+1))
}
