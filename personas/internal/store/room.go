package store

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// recheck is when waiting looks again without news. Pebble tells of a flush shortly before its memory is free.
const recheck = 5 * time.Millisecond

// Writing waits while this many buffers wait to be written to files, or while a read would have to look into this many layers
// of young files.
const (
	maxBuffers = 3
	maxLayers  = 24
)

// room has writing wait until files are written. Pebble would wait by itself, but for ever if the disk is full, and nothing
// could close it then.
type room struct {
	db       *pebble.DB
	health   *health
	closed   <-chan struct{}
	memtable int64 // bytes of a buffer

	unlooked atomic.Int64 // bytes written since the last look
	stalls   atomic.Int64
	looks    sync.WaitGroup
}

// await returns when there is room for a batch, or an error if there will be none.
func (r *room) await(size int) error {
	if r.unlooked.Add(int64(size)) < r.memtable/4 {
		return nil
	}
	r.unlooked.Store(0)
	for waited := false; ; waited = true {
		news := r.health.news()
		if err := r.health.failure(); err != nil {
			return err
		}
		// A store that fails meanwhile may never answer.
		answer := make(chan bool, 1)
		r.looks.Go(func() { answer <- r.enough() })
		select {
		case enough := <-answer:
			if enough {
				return nil
			}
		case <-news:
			continue
		case <-r.closed:
			return ErrClosed
		}
		if !waited {
			r.stalls.Add(1)
		}
		select {
		case <-news:
		case <-time.After(recheck):
		case <-r.closed:
			return ErrClosed
		}
	}
}

// idle returns when nobody looks for room any more, or why somebody always will.
func (r *room) idle() error {
	done := make(chan struct{})
	go func() {
		r.looks.Wait()
		close(done)
	}()
	for {
		news := r.health.news()
		if err := r.health.failure(); err != nil {
			return err
		}
		select {
		case <-done:
			return nil
		case <-news:
		}
	}
}

func (r *room) enough() bool {
	m := r.db.Metrics()
	return int64(m.MemTable.Size) < maxBuffers*r.memtable && m.Levels[0].Sublevels < maxLayers
}
