package broker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"github.com/anabranch/anabranch/internal/broker/datadir"
)

// dirLock is a held lock on a data directory. The kernel releases it with the process, however that ends.
type dirLock struct{ file *flock.Flock }

// lockDir takes the lock of a directory. Two brokers on one log would write over each other, and kfake itself does not look.
func lockDir(dir string) (*dirLock, error) {
	path := filepath.Join(dir, datadir.Lock)
	file := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR))
	held, err := file.TryLock()
	if err != nil {
		return nil, datadir.Unusable(dir, err)
	}
	if !held {
		return nil, fmt.Errorf("lock DATA_DIR=%s: another process%s uses it; stop that process, or set DATA_DIR to another directory", dir, holder(path))
	}
	if err := os.WriteFile(path, strconv.AppendInt(nil, int64(os.Getpid()), 10), 0o600); err != nil {
		return nil, errors.Join(datadir.Unusable(dir, err), file.Unlock())
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

// release gives the directory back. The file stays: removing it would let two processes lock two files of one name.
func (l *dirLock) release() error {
	if err := l.file.Unlock(); err != nil {
		return fmt.Errorf("unlock the data directory: %w", err)
	}
	return nil
}
