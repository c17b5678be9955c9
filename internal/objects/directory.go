package objects

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// directory keeps each object in a file.
type directory struct {
	root string

	mu     sync.Mutex
	synced map[string]bool // directories whose own entries are on the disk
}

const (
	dirMode  = 0o750
	fileMode = 0o640
)

func (d *directory) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// Put implements [Store]: a file is written beside its place, and moved there when it is on
// the disk. What an earlier try left is removed.
func (d *directory) Put(_ context.Context, name string, body []byte) error {
	return d.write(name, body, os.Rename)
}

// Create implements [Store].
func (d *directory) Create(_ context.Context, name string, body []byte) (bool, error) {
	err := d.write(name, body, func(temporary, path string) error {
		if err := os.Link(temporary, path); err != nil {
			return err
		}
		return os.Remove(temporary)
	})
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// write has place give a file its name when it is on the disk.
func (d *directory) write(name string, body []byte, place func(temporary, path string) error) error {
	path := d.path(name)
	dir, base := filepath.Split(path)
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	temporary := "." + base + "."
	if err := removeAll(dir, temporary); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, temporary+"*")
	if err != nil {
		return err
	}
	if err = errors.Join(writeAll(f, body), f.Close()); err == nil {
		err = place(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the next try removes it too
		return err
	}
	return d.sync(filepath.Dir(path))
}

func writeAll(f *os.File, body []byte) error {
	if _, err := f.Write(body); err != nil {
		return err
	}
	return errors.Join(f.Chmod(fileMode), f.Sync())
}

// removeAll removes the files of a directory whose names begin so.
func removeAll(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if gone := os.Remove(filepath.Join(dir, e.Name())); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// sync has the entries of a directory on the disk, and once in the life of the process its
// own entry in those above it: it may be new, or have been when a process died.
func (d *directory) sync(dir string) error {
	d.mu.Lock()
	known := d.synced[dir]
	d.mu.Unlock()
	if err := syncDir(dir); err != nil || known {
		return err
	}
	for up := dir; len(up) > len(filepath.Clean(d.root)); {
		up = filepath.Dir(up)
		if err := syncDir(up); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.synced == nil {
		d.synced = make(map[string]bool)
	}
	d.synced[dir] = true
	return nil
}

func syncDir(dir string) error {
	f, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Get implements [Store].
func (d *directory) Get(_ context.Context, name string) (body []byte, there bool, err error) {
	body, err = os.ReadFile(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return body, err == nil, err
}

// Has implements [Store].
func (d *directory) Has(_ context.Context, name string) (bool, error) {
	_, err := os.Stat(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// List implements [Store].
func (d *directory) List(_ context.Context, dir string) ([]Entry, error) {
	found, err := os.ReadDir(d.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	all := make([]Entry, 0, len(found))
	for _, f := range found {
		info, gone := f.Info()
		if errors.Is(gone, fs.ErrNotExist) {
			continue // a temporary file, which has its name by now
		}
		if gone != nil {
			return nil, gone
		}
		e := Entry{Name: path.Join(dir, f.Name()), Modified: info.ModTime()}
		if info.IsDir() {
			e.Name += "/"
		}
		all = append(all, e)
	}
	return all, err
}
