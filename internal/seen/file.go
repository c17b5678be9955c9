package seen

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	runSuffix = ".run"
	logSuffix = ".log"
	newSuffix = ".new"
)

// file is an open one. Without a name it is gone once it is closed, also by a kill.
type file struct {
	*os.File

	name string
}

// close closes the file. What could not be written to it comes from elsewhere.
func (f *file) close() {
	if f != nil {
		_ = f.Close()
	}
}

// remove closes the file, and removes it.
func (f *file) remove() error {
	if f == nil {
		return nil
	}
	err := f.Close()
	if f.name != "" {
		err = errors.Join(err, os.Remove(f.name))
	}
	return err
}

func (e extent) name(suffix string) string {
	return fmt.Sprintf("%020d-%020d%s", e.from, e.to, suffix)
}

// extentOf reads the name of a file.
func extentOf(name, suffix string) (e extent, ok bool) {
	text, ok := strings.CutSuffix(name, suffix)
	n, err := fmt.Sscanf(text, "%d-%d", &e.from, &e.to)
	return e, ok && err == nil && n == 2 && e.name(suffix) == name
}

// create makes a run of at most so many fingerprints in a file of a directory; empty: in one
// without a name.
func create(dir string, of Identity, ext extent, most int, next stream) (_ *run, err error) {
	if dir != "" {
		if err = os.MkdirAll(dir, 0o700); err != nil { // which may have failed at first
			return nil, err
		}
	}
	f, err := os.CreateTemp(dir, "seen-*"+newSuffix)
	if err != nil {
		return nil, err
	}
	made := &file{File: f, name: f.Name()}
	defer func() {
		if err != nil {
			_ = made.remove() // there is an error already
		}
	}()
	r, err := writeRun(f, of, ext, most, next)
	if err != nil {
		return nil, err
	}
	r.file, r.pages = made, f
	if dir == "" {
		err = os.Remove(made.name)
		made.name = ""
		return r, err
	}
	if err = f.Sync(); err != nil {
		return nil, err
	}
	name := filepath.Join(dir, ext.name(runSuffix))
	if err = os.Rename(made.name, name); err != nil {
		return nil, err
	}
	made.name = name
	return r, syncDir(dir)
}

// syncDir has names outlive a power failure.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the operator's directory
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// inMemory makes a run that could not be written to a file.
func inMemory(of Identity, ext extent, most int, next stream) (*run, error) {
	var b bytes.Buffer
	r, err := writeRun(&b, of, ext, most, next)
	if err != nil {
		return nil, err
	}
	r.pages = bytes.NewReader(b.Bytes())
	return r, nil
}

// open opens the run that a file has.
func open(name string) (_ *run, err error) {
	f, err := os.Open(name) //nolint:gosec // in the operator's directory
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // it was only read
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := openRun(f, info.Size())
	if err != nil {
		return nil, err
	}
	r.file = &file{File: f, name: name}
	return r, nil
}
