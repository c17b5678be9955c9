package store

import (
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// guard is a file system that takes no more writes once its store has failed. Who writes stands still for ever then: told
// of an error, pebble would try again at once, without end.
type guard struct {
	vfs.FS

	health  *health
	lock    io.Closer               // of the directory
	private func(name string) error // takes a file from other users; nil where there are none
}

// stop does not return if a store that was open has failed.
func (g *guard) stop() error {
	err := g.health.failure()
	if err != nil && g.health.opened.Load() {
		select {}
	}
	return err
}

// opened returns a file that is written through the guard.
func (g *guard) opened(name string, f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	if g.private != nil {
		if err := g.private(name); err != nil {
			_ = f.Close()
			return nil, err
		}
	}
	return guarded{f, g}, nil
}

// Create implements [vfs.FS].
func (g *guard) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := g.stop(); err != nil {
		return nil, err
	}
	f, err := g.FS.Create(name, category)
	return g.opened(name, f, err)
}

// OpenReadWrite implements [vfs.FS].
func (g *guard) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := g.stop(); err != nil {
		return nil, err
	}
	f, err := g.FS.OpenReadWrite(name, category, opts...)
	return g.opened(name, f, err)
}

// ReuseForWrite implements [vfs.FS].
func (g *guard) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := g.stop(); err != nil {
		return nil, err
	}
	f, err := g.FS.ReuseForWrite(oldname, newname, category)
	return g.opened(newname, f, err)
}

// OpenDir implements [vfs.FS].
func (g *guard) OpenDir(name string) (vfs.File, error) {
	f, err := g.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return guarded{f, g}, nil
}

// Lock implements [vfs.FS].
func (g *guard) Lock(name string) (io.Closer, error) {
	held, err := g.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	g.lock = held
	if g.private != nil {
		return held, g.private(name)
	}
	return held, nil
}

// Link implements [vfs.FS].
func (g *guard) Link(oldname, newname string) error {
	if err := g.stop(); err != nil {
		return err
	}
	return g.FS.Link(oldname, newname)
}

// Remove implements [vfs.FS].
func (g *guard) Remove(name string) error {
	if err := g.stop(); err != nil {
		return err
	}
	return g.FS.Remove(name)
}

// RemoveAll implements [vfs.FS].
func (g *guard) RemoveAll(name string) error {
	if err := g.stop(); err != nil {
		return err
	}
	return g.FS.RemoveAll(name)
}

// Rename implements [vfs.FS].
func (g *guard) Rename(oldname, newname string) error {
	if err := g.stop(); err != nil {
		return err
	}
	return g.FS.Rename(oldname, newname)
}

// MkdirAll implements [vfs.FS].
func (g *guard) MkdirAll(dir string, perm os.FileMode) error {
	if err := g.stop(); err != nil {
		return err
	}
	return g.FS.MkdirAll(dir, perm)
}

// Unwrap implements [vfs.FS].
func (g *guard) Unwrap() vfs.FS { return g.FS }

// guarded is a file of a guard.
type guarded struct {
	vfs.File

	guard *guard
}

// Write implements [io.Writer].
func (f guarded) Write(p []byte) (int, error) {
	if err := f.guard.stop(); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

// WriteAt implements [io.WriterAt].
func (f guarded) WriteAt(p []byte, at int64) (int, error) {
	if err := f.guard.stop(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, at)
}

// Sync implements [vfs.File].
func (f guarded) Sync() error {
	if err := f.guard.stop(); err != nil {
		return err
	}
	return f.File.Sync()
}

// SyncData implements [vfs.File].
func (f guarded) SyncData() error {
	if err := f.guard.stop(); err != nil {
		return err
	}
	return f.File.SyncData()
}

// SyncTo implements [vfs.File].
func (f guarded) SyncTo(length int64) (fullSync bool, err error) {
	if err := f.guard.stop(); err != nil {
		return false, err
	}
	return f.File.SyncTo(length)
}
