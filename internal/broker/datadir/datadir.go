package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
)

// Log is the directory of the log in a data directory, Lock the file that is locked while a process uses it.
const (
	Log  = "broker"
	Lock = "lock"
)

// settings is the file in which a process says what it runs with.
const settings = "settings.json"

// others are the bits of a mode that let anybody but the owner in.
const others fs.FileMode = 0o077

// A Dir is a data directory that nobody but its user can enter.
type Dir struct {
	path    string
	wasOpen bool
}

// Open creates a data directory if need be and takes it and the log in it from all users but the owner. One that is not ours
// alone, or not this user's, is refused with an error that names DATA_DIR. The process's umask becomes 077.
func Open(path string, log *slog.Logger) (Dir, error) {
	restrictNewFiles()
	if err := os.MkdirAll(path, 0o700); err != nil {
		return Dir{}, Unusable(path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return Dir{}, Unusable(path, err)
	}
	d := Dir{path: path, wasOpen: privacy && info.Mode().Perm()&others != 0}
	if d.wasOpen {
		if err := tighten(path, info.Mode().Perm()); err != nil {
			return Dir{}, err
		}
		log.Warn("DATA_DIR was accessible to other users and no longer is", "dir", path, "mode", info.Mode().Perm().String())
	}
	return d, closeLog(filepath.Join(path, Log))
}

// tighten makes a directory its owner's, if there is nothing in it but what the broker has put there.
func tighten(dir string, mode fs.FileMode) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Unusable(dir, err)
	}
	for _, entry := range entries {
		if !slices.Contains([]string{Lock, Log, BrokerPassword, AdminToken, settings}, entry.Name()) {
			return fmt.Errorf("use DATA_DIR=%s: other users can access it (%s), and it holds more than the embedded broker's files, such as %s; "+
				"expected a directory of its own: name one below it, or run chmod 700", dir, mode, entry.Name())
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory is entered by its x bit
		return fmt.Errorf("use DATA_DIR=%s: other users can access it (%s), and this one may not change that; expected a directory of its own: name one below it",
			dir, mode)
	}
	return nil
}

// closeLog takes the bits of others from what an earlier release, under another umask, has left in the log.
func closeLog(logDir string) error {
	root, err := os.OpenRoot(logDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(closeAll(root), root.Close())
	}
	if err != nil && privacy {
		return fmt.Errorf("close the log in %s to other users: %w", logDir, err)
	}
	return nil
}

func closeAll(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.Mode().Perm()&others == 0 || info.Mode()&fs.ModeSymlink != 0 {
			return err
		}
		return root.Chmod(path, info.Mode().Perm()&^others)
	})
}

// Unusable is the error of a directory that can't be created or written to.
func Unusable(dir string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok && path.Path != dir {
		return fmt.Errorf("use DATA_DIR=%s: %w; expected a directory that this process may write to", dir, err)
	} else if ok {
		err = path.Err // its path has just been named
	}
	return fmt.Errorf("use DATA_DIR=%s: %w; expected a directory that this process may write to", dir, err)
}
