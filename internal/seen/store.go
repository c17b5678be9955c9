package seen

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Buckets are how many of them the horizon has, beside the present one. What expires does
// so by whole buckets. A new call is held against each of them, and once there is too much
// for a processor's caches that is most of what it costs: so they are few.
const Buckets = 8

// What fails: the values of [Options.Failed].
const (
	OperationRead  = "read"
	OperationWrite = "write"
)

const (
	// retryAfter is how long after a failure files are written that could not be, and
	// repeatAfter how often the log says that this goes on.
	retryAfter  = 30 * time.Second
	repeatAfter = time.Minute
)

// Options are what a store is opened with.
type Options struct {
	// Dir has a directory for each partition; empty: the files have no names, in the
	// directory for temporary files, and are gone with the process.
	Dir string
	// Window is the horizon.
	Window time.Duration
	Logger *slog.Logger
	// Failed counts what failed by its kind. It may be called by any goroutine.
	Failed func(operation string)
}

// Store has the sets of partitions, and one goroutine that does for all of them what
// takes time.
type Store struct {
	opts Options
	lock *flock.Flock // nil: without a directory
	work chan struct{}
	end  chan struct{}
	done sync.WaitGroup

	mu       sync.Mutex
	sets     map[*Set]bool
	spoiled  map[string]bool // directories that could not be removed
	failure  time.Time       // the last one to write
	said     time.Time
	withheld int // failures that the log was not told of
}

// Open opens the sets in a directory, which no other process uses.
func Open(opts Options) (*Store, error) {
	s := &Store{opts: opts, work: make(chan struct{}, 1), end: make(chan struct{}), sets: make(map[*Set]bool), spoiled: make(map[string]bool)}
	if opts.Dir != "" {
		if err := os.MkdirAll(opts.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the directory for calls seen: %w", err)
		}
		s.lock = flock.New(filepath.Join(opts.Dir, "lock"))
		ours, err := s.lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("lock the directory for calls seen: %w", err)
		}
		if !ours {
			return nil, fmt.Errorf("directory %s is used by another process: give each its own", opts.Dir)
		}
	}
	s.done.Go(s.run)
	return s, nil
}

// Close closes the store, whose sets are closed.
func (s *Store) Close() {
	close(s.end)
	s.done.Wait()
	for _, set := range s.open() {
		set.Close()
	}
	if s.lock != nil {
		_ = s.lock.Unlock() // the end of the process does it too
	}
}

// Width is how long a bucket is.
func (s *Store) Width() time.Duration { return max(s.opts.Window/Buckets, time.Second) }

// Bucket is the bucket of a record with a time stamp. One of the future counts as now:
// whose clock is ahead must not end everybody's horizon.
func (s *Store) Bucket(at time.Time) int64 {
	if now := time.Now(); at.After(now) {
		at = now
	}
	return max(at.UnixNano(), 0) / int64(s.Width())
}

func (s *Store) run() {
	retry := time.NewTicker(retryAfter)
	defer retry.Stop()
	for {
		select {
		case <-s.work:
		case <-retry.C:
		case <-s.end:
			return
		}
		for _, set := range s.open() {
			set.tend()
		}
	}
}

func (s *Store) wake() {
	select {
	case s.work <- struct{}{}:
	default:
	}
}

func (s *Store) open() []*Set {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.sets))
}

func (s *Store) forget(set *Set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sets, set)
}

// failed says and counts what failed.
func (s *Store) failed(operation string, err error) {
	s.opts.Failed(operation)
	s.mu.Lock()
	defer s.mu.Unlock()
	if operation == OperationWrite {
		s.failure = time.Now()
	}
	if !s.said.IsZero() && time.Since(s.said) < repeatAfter {
		s.withheld++
		return
	}
	s.opts.Logger.Error("files of calls seen failed, calls are processed all the same", "operation", operation, "error", err, "failures_before", s.withheld)
	s.said, s.withheld = time.Now(), 0
}

// wipe removes the directory of a set.
func (s *Store) wipe(dir string) error {
	err := os.RemoveAll(dir)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spoiled[dir] = err != nil; err == nil {
		delete(s.spoiled, dir)
	}
	return err
}

// removed is told of the removal of files. What is still there is found when its set is
// opened again: it is removed, or as right as it was.
func (s *Store) removed(err error) {
	if err != nil {
		s.failed(OperationWrite, fmt.Errorf("remove a file of calls seen: %w", err))
	}
}

func (s *Store) mayRetry() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure.IsZero() || time.Since(s.failure) >= retryAfter
}

// Counts returns how many calls the sets know, and how many of them would be forgotten
// with the process since they can't be written.
func (s *Store) Counts() (all, unwritten int) {
	for _, set := range s.open() {
		n, u := set.counts()
		all, unwritten = all+n, unwritten+u
	}
	return all, unwritten
}

// Set opens the set of a partition as its files have it: of names together with the
// horizon. What is of others is removed, and so is what is damaged, with all behind it;
// the log says so. Where no file can be read or made, all is in memory until that is so.
func (s *Store) Set(partition int32, names ...string) *Set {
	sum := digestOf("anabranch set of calls", append(slices.Clone(names), s.opts.Window.String(), s.Width().String(), strconv.Itoa(int(partition))))
	set := &Set{store: s, of: Identity(sum[:Bytes])}
	if s.opts.Dir != "" {
		set.dir = filepath.Join(s.opts.Dir, strconv.Itoa(int(partition)))
		for _, other := range s.open() {
			if other.dir == set.dir {
				other.Close() // it may be about to
			}
		}
	}
	return set.begin()
}
