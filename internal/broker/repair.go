package broker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

// formatVersion is the version of kfake's files that this package knows how to repair.
const formatVersion = 1

// repair brings the files of a broker that was killed into the state that kfake's own recovery takes for granted. It
// runs before kfake sees them, and does nothing to a directory that was closed or is new. Four things
// are repaired, each with its own file here:
//   - an entry cut short in a log of offsets or producers hides all later ones: [mendStateLog];
//   - a record batch without its index entry passes for committed: [mendIndexes];
//   - a snapshot taken with a transaction open holds readers back for ever: [dropStaleSnapshot];
//   - a transaction that was open passes for committed after the next kill: [endTransactions].
func repair(logDir string, log *slog.Logger) error {
	known, err := isKnownFormat(filepath.Join(logDir, "meta.json"))
	if err != nil || !known {
		return err // kfake itself refuses what is too new for it
	}
	for _, name := range []string{"groups.log", "pids.log"} {
		if err = mendStateLog(filepath.Join(logDir, name), log); err != nil {
			return err
		}
	}
	return repairPartitions(logDir, log)
}

func repairPartitions(logDir string, log *slog.Logger) error {
	parent := filepath.Join(logDir, "partitions")
	partitions, err := os.ReadDir(parent)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list partitions: %w", err)
	}
	dirs := make([]string, 0, len(partitions))
	for _, partition := range partitions {
		dirs = append(dirs, filepath.Join(parent, partition.Name()))
	}
	for _, dir := range dirs {
		if err = mendIndexes(dir, log); err != nil {
			return err
		}
	}
	if _, err = os.Stat(filepath.Join(logDir, "session_state.json")); err == nil {
		return nil // the open transactions are in it, and kfake restores them
	}
	for _, dir := range dirs {
		if err = dropStaleSnapshot(dir, log); err != nil {
			return err
		}
	}
	return endTransactions(logDir, dirs, log)
}

// isKnownFormat tells whether there is a log, and one whose format is known.
func isKnownFormat(path string) (bool, error) {
	var meta struct {
		Version int `json:"version"`
	}
	found, err := readJSON(path, &meta)
	return found && meta.Version == formatVersion, err
}

// readJSON reads a file into v. It returns false when there is no such file.
func readJSON(path string, v any) (bool, error) {
	text, err := os.ReadFile(path) //nolint:gosec // a file of the broker's own directory
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("read state: %w", err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return false, fmt.Errorf("decode %s: %w", path, err)
	}
	return true, nil
}

// replaceFile writes a file such that a kill leaves the old or the new one. kfake removes the *.tmp of a kill.
func replaceFile(path string, content []byte) error {
	temporary := path + ".tmp"
	if err := os.WriteFile(temporary, content, 0o600); err != nil { //nolint:gosec // a file of the broker's own directory
		return fmt.Errorf("write repaired file: %w", err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("replace repaired file: %w", err)
	}
	return nil
}

// forgetUsers has the password that is given to kfake in force: it would take those that it has noted, of which a log from
// before there were any has none.
func forgetUsers(logDir string) error {
	if err := os.Remove(filepath.Join(logDir, "sasl.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the users of the log: %w", err)
	}
	return nil
}
