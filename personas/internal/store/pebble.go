package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// format is the version of pebble's files. It goes up by a release that says so, since no earlier one can read them then.
const format = pebble.FormatTableFormatV6

// MinMemory is the least memory that a store on disk works with, in bytes.
const MinMemory = 16 << 20

// Options are what a store on disk is made of.
type Options struct {
	// Dir is its directory, which is created. Its files belong to the store alone.
	Dir string
	// Memory is how many bytes its buffers and its cache take together: at least MinMemory.
	Memory int64
	// Log is told of what goes wrong, and at debug level what pebble says.
	Log *slog.Logger

	fs vfs.FS // of tests; nil: the disk
}

// disk is a store in pebble, without a WAL: what a crash takes is read again from the changelog. Pebble writes its
// buffers in the order of the batches, so what a crash leaves is the state after one of them, with its checkpoint.
type disk struct {
	db     *pebble.DB
	guard  *guard
	health *health
	*usage
	room

	mu  sync.Mutex       // orders what is written and read of timers, and low
	low map[int32][]byte // no timer of a partition is before this key
}

// Open opens the store in a directory, or makes one. One that another process uses is refused. An error of a damaged one
// says so; it may be deleted, since all it holds is in the changelog.
func Open(o Options) (Store, error) {
	if o.Memory < MinMemory {
		return nil, fmt.Errorf("open the store of user records: its memory is %d bytes; expected at least %d", o.Memory, MinMemory)
	}
	h := newHealth(o.Dir, o.Log)
	g := &guard{FS: o.fs, health: h}
	if o.fs == nil {
		g.FS, g.private = vfs.Default, ownersFile
		if err := ownersDir(o.Dir); err != nil {
			return nil, unopened(o.Dir, err)
		}
	}
	db, err := pebble.Open(o.Dir, settings(o, g, h))
	if err != nil {
		return nil, unopened(o.Dir, err)
	}
	h.opened.Store(true)
	d := &disk{db: db, guard: g, health: h, usage: newUsage(), low: make(map[int32][]byte)}
	d.room = room{db: db, health: h, closed: d.closing, memtable: o.Memory / 8}
	return d, nil
}

// unopened is the error of a directory that holds no store that can be used.
func unopened(dir string, err error) error {
	switch {
	case pebble.IsCorruptionError(err):
		return fmt.Errorf("open the store of user records in %s: %w; it is damaged. Delete the directory: all it holds is read again from the changelog", dir, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("open the store of user records in %s: %w; expected a directory that this process may write to", dir, err)
	default:
		return fmt.Errorf("open the store of user records in %s: %w; expected a directory of its own that no other process uses", dir, err)
	}
}

// settings are pebble's. Writing never waits in pebble, where nothing could end it on a full disk: see room.
func settings(o Options, g *guard, h *health) *pebble.Options {
	p := &pebble.Options{
		FS:                          g,
		Logger:                      h,
		EventListener:               h.listener(),
		DisableWAL:                  true,
		FormatMajorVersion:          format,
		CacheSize:                   o.Memory, // buffers are taken off it
		MemTableSize:                uint64(o.Memory / 8),
		MemTableStopWritesThreshold: 1 << 20,
		L0StopWritesThreshold:       1 << 20,
		L0CompactionThreshold:       2,
		LBaseMaxBytes:               max(64<<20, o.Memory/2),
		CompactionConcurrencyRange:  func() (lower, upper int) { return 1, max(1, runtime.GOMAXPROCS(0)/2) },
	}
	for i := range p.Levels {
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	// Records are short and dense: compressing them halves the speed and saves two fifths of the disk.
	p.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	return p
}

// Stats implements [Store].
func (d *disk) Stats() Stats {
	if d.enter() != nil {
		return Stats{}
	}
	defer d.leave()
	m := d.db.Metrics()
	return Stats{
		DiskBytes:      int64(m.DiskSpaceUsage()),
		MemoryBytes:    m.BlockCache.Size + int64(m.MemTable.Size),
		CacheHits:      m.BlockCache.Hits,
		CacheMisses:    m.BlockCache.Misses,
		CompactionDebt: int64(m.Compact.EstimatedDebt),
		Stalls:         d.stalls.Load(),
	}
}

// Close implements [Store]. One that has failed is left as a crash would leave it, and what it holds in memory stays there:
// pebble can't be closed while its goroutines stand still. Its directory is given back.
func (d *disk) Close() error {
	if err := d.end(); err != nil {
		return err
	}
	if err := d.flush(); err != nil {
		return errors.Join(err, d.guard.lock.Close())
	}
	if err := d.room.idle(); err != nil {
		return errors.Join(err, d.guard.lock.Close())
	}
	return d.written(d.db.Close())
}

// flush writes what is in memory, or returns why it could not.
func (d *disk) flush() error {
	if err := d.health.failure(); err != nil {
		return err
	}
	done, err := d.db.AsyncFlush()
	if err != nil {
		return d.written(err)
	}
	for {
		news := d.health.news()
		if err := d.health.failure(); err != nil {
			return err
		}
		select {
		case <-done:
			return nil
		case <-news:
		}
	}
}

// read says what could not be read, if anything.
func (d *disk) read(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read user records in %s: %w", d.health.dir, err)
}

// written says what could not be written, if anything.
func (d *disk) written(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write user records in %s: %w", d.health.dir, err)
}

// enter begins to use the store. It is an error if that was closed or has failed.
func (d *disk) enter() error {
	if err := d.health.failure(); err != nil {
		return err
	}
	return d.usage.enter()
}

// ownersDir makes a directory that its owner alone can enter.
func ownersDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700) //nolint:gosec // a directory is entered by its x bit
}

// ownersFile makes a file one that its owner alone can read. Pebble leaves that to the umask.
func ownersFile(name string) error { return os.Chmod(name, 0o600) }
