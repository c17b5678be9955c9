package broker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// lockName is the file in the data directory that is locked while a process uses it.
const lockName = "lock"

// dirLock is a held lock on a data directory. The kernel releases it with the process, however that ends.
type dirLock struct{ file *flock.Flock }

// lockDir creates the directory if need be and takes its lock. Two brokers on one log would write over each other, and
// kfake itself does not look. The directory is for its owner alone: records may hold personal data, and the topic of
// the workspace holds the secrets of destinations.
func lockDir(dir string) (*dirLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unusable(dir, err)
	}
	path := filepath.Join(dir, lockName)
	file := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR))
	held, err := file.TryLock()
	if err != nil {
		return nil, unusable(dir, err)
	}
	if !held {
		return nil, fmt.Errorf("lock DATA_DIR=%s: another process%s has it; stop that one, or set DATA_DIR to another directory", dir, holder(path))
	}
	if err := os.WriteFile(path, strconv.AppendInt(nil, int64(os.Getpid()), 10), 0o600); err != nil {
		return nil, errors.Join(unusable(dir, err), file.Unlock())
	}
	return &dirLock{file}, nil
}

// holder reads which process has the lock: " (pid 4711)", or nothing when the file does not tell.
func holder(path string) string {
	text, err := os.ReadFile(path) //nolint:gosec // the operator's own directory
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (pid %d)", pid)
}

// unusable is the error of a directory that can't be created or written to.
func unusable(dir string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok && path.Path != dir {
		return fmt.Errorf("use DATA_DIR=%s: %w; expected a directory that this process may write to", dir, err)
	} else if ok {
		err = path.Err // its path has just been named
	}
	return fmt.Errorf("use DATA_DIR=%s: %w; expected a directory that this process may write to", dir, err)
}

// release gives the directory back. The file stays: removing it would let two processes lock two files of one name.
func (l *dirLock) release() error {
	if err := l.file.Unlock(); err != nil {
		return fmt.Errorf("unlock the data directory: %w", err)
	}
	return nil
}
