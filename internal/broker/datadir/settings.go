package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteSettings says what the process that has the directory runs with: variables and
// their values. No secret may be among them.
func (d Dir) WriteSettings(variables map[string]string) error {
	text, err := json.MarshalIndent(variables, "", "  ")
	if err == nil {
		err = write(filepath.Join(d.path, settings), append(text, '\n'))
	}
	if err != nil {
		return Unusable(d.path, err)
	}
	return nil
}

// RemoveSettings takes them back. A process that was killed leaves its own behind.
func (d Dir) RemoveSettings() error {
	if err := os.Remove(filepath.Join(d.path, settings)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Unusable(d.path, err)
	}
	return nil
}

// ReadSettings returns what [Dir.WriteSettings] wrote; nothing where no process runs.
func ReadSettings(path string) (variables map[string]string, err error) {
	text, err := os.ReadFile(filepath.Join(path, settings)) //nolint:gosec // the operator's own directory
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &variables)
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings in DATA_DIR=%s: %w; expected the user that `anabranch run` runs as", path, err)
	}
	return variables, nil
}
