package datadir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/anabranch/anabranch/schemas"
)

// The files of a data directory that hold a secret, on a line.
const (
	BrokerPassword = "broker-password"
	AdminToken     = "admin-token"
)

// Read returns the secret of a data directory. The error is [fs.ErrNotExist] where none was made.
func Read(path, name string) (schemas.Secret, error) {
	text, err := os.ReadFile(filepath.Join(path, name)) //nolint:gosec // the operator's own directory
	if err != nil {
		return "", fmt.Errorf("read the secret of DATA_DIR: %w", err)
	}
	return schemas.Secret(strings.TrimSpace(string(text))), nil
}

// Secret returns the secret of a name, and makes it where there is none yet, or where somebody else may have read or written
// it. It stays the same from start to start, so that other programs can be configured with it.
func (d Dir) Secret(name string) (schemas.Secret, error) {
	path := filepath.Join(d.path, name)
	info, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", Unusable(d.path, err)
	}
	if err == nil && !d.wasOpen && info.Mode().IsRegular() && (!privacy || info.Mode().Perm()&others == 0) {
		if secret, err := Read(d.path, name); err != nil || secret != "" {
			return secret, err
		}
	}
	secret := rand.Text()
	if err := write(path, []byte(secret+"\n")); err != nil {
		return "", Unusable(d.path, err)
	}
	return schemas.Secret(secret), nil
}

// write puts a text into a file of its own, so that whoever reads has a whole one.
func write(path string, text []byte) error {
	temporary := path + ".tmp"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
