package store

import (
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// health is whether the files of a store can still be written, and the news that they were. Its methods are called while
// pebble holds its locks, so they call nothing of pebble's.
type health struct {
	log *slog.Logger
	dir string

	opened atomic.Bool // whether there is a store, and not the attempt to open one

	mu       sync.Mutex
	err      error
	progress chan struct{} // closed and replaced whenever pebble has finished something or failed
}

func newHealth(dir string, log *slog.Logger) *health {
	return &health{log: log, dir: dir, progress: make(chan struct{})}
}

// fail notes that the store is broken. The first error stays: pebble would try again for ever, and with the WAL off nobody
// would hear of it until memory is full.
func (h *health) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return
	}
	h.err = fmt.Errorf("keep user records in %s: %w; expected a disk that can be written to, with free space. Nothing is lost: what is missing "+
		"here is read again from the changelog at the next start", h.dir, err)
	h.log.Error("the store of user records has failed", "dir", h.dir, "error", err)
	h.announce()
}

// failure returns why the store is broken, or nil.
func (h *health) failure() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// news returns a channel that is closed when something has happened.
func (h *health) news() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.progress
}

func (h *health) moved() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.announce()
}

func (h *health) announce() {
	close(h.progress)
	h.progress = make(chan struct{})
}

// listener has pebble tell what matters here.
func (h *health) listener() *pebble.EventListener {
	l := &pebble.EventListener{
		BackgroundError: h.fail,
		DataCorruption:  func(info pebble.DataCorruptionInfo) { h.fail(fmt.Errorf("a file is damaged: %s", info)) },
		FlushEnd:        func(pebble.FlushInfo) { h.moved() },
		CompactionEnd:   func(pebble.CompactionInfo) { h.moved() },
		DiskSlow: func(info pebble.DiskSlowInfo) {
			h.log.Warn("the disk of the store of user records is slow", "dir", h.dir, "for", info.Duration.Round(time.Millisecond))
		},
		LowDiskSpace: func(info pebble.LowDiskSpaceInfo) {
			h.log.Warn("the disk of the store of user records is nearly full", "dir", h.dir, "free_bytes", info.AvailBytes, "bytes", info.TotalBytes)
		},
	}
	l.EnsureDefaults(nil)
	return l
}

// Infof implements [pebble.Logger]. What it tells of is of use to pebble's authors.
func (h *health) Infof(format string, args ...any) {
	h.log.Debug("store of user records", "said", sayable{format, args})
}

// Errorf implements [pebble.Logger].
func (h *health) Errorf(format string, args ...any) {
	h.log.Error("store of user records", "said", sayable{format, args})
}

// Fatalf implements [pebble.Logger]. Pebble expects it to end the process, and goes on with what it has in a muddle if it
// returns. The manifest can't be written, mostly: that ends the goroutine that was at it, which gives back its locks, and
// nothing reaches the files any more (see guard), so that they are as a crash would have left them. What else pebble
// finds impossible is a panic.
func (h *health) Fatalf(format string, args ...any) {
	var err error
	if len(args) == 1 {
		err, _ = args[0].(error)
	}
	if err == nil {
		panic(fmt.Sprintf("pebble: "+format, args...))
	}
	h.fail(wrapped{fmt.Sprintf(format, err), err})
	if h.opened.Load() { // opening returns the error, and is no goroutine of pebble's
		runtime.Goexit()
	}
}

// wrapped is an error in words of pebble's, which formats errors away.
type wrapped struct {
	text string
	err  error
}

func (w wrapped) Error() string { return w.text }

func (w wrapped) Unwrap() error { return w.err }

// sayable is formatted only for a log that takes it.
type sayable struct {
	format string
	args   []any
}

// LogValue implements [slog.LogValuer].
func (s sayable) LogValue() slog.Value { return slog.StringValue(fmt.Sprintf(s.format, s.args...)) }
