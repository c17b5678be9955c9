package seen

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Set knows which calls of a partition were seen below an offset. One goroutine uses it;
// it may be closed by any.
type Set struct {
	store *Store
	dir   string // empty: its files have no names
	of    Identity

	closing atomic.Bool
	tending sync.Mutex // held while files are made and removed

	mu      sync.RWMutex
	active  *generation   // nil: nothing was added to the present bucket
	sealed  []*generation // which become runs, by offsets
	runs    []*run        // by offsets
	expired []*run
	next    int64 // -1: nothing is known
	bucket  int64
	err     error

	// loading is what the runs will have that are made while the set is restored.
	loading     []Fingerprint
	loadingFrom int64 // -1: nothing is loaded that is not in a run
}

// Next is the offset below which the set knows all calls; -1: it knows none.
func (s *Set) Next() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.next
}

// Identity tells the set from those of other topics, partitions and horizons.
func (s *Set) Identity() Identity { return s.of }

// Err is why the set is of no more use: a file of it is damaged, or can't be read. Once
// it is closed and wiped, it can be restored.
func (s *Set) Err() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.err
}

// Bucket is the present bucket: none of what follows is in an earlier one.
func (s *Set) Bucket() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.bucket
}

// has reports whether a fingerprint was seen at most the horizon before a bucket.
func (s *Set) has(fp Fingerprint, bucket int64) (bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.err != nil {
		return false, s.err
	}
	oldest := bucket - Buckets
	if s.active != nil && s.active.bucket >= oldest && s.active.has(fp) {
		return true, nil
	}
	for _, g := range slices.Backward(s.sealed) {
		if g.bucket >= oldest && g.has(fp) {
			return true, nil
		}
	}
	for _, r := range slices.Backward(s.runs) {
		if r.bucket < oldest {
			break
		}
		if known, err := r.has(fp); known || err != nil {
			return known, err
		}
	}
	return false, nil
}

// fail notes why the set is of no more use.
func (s *Set) fail(err error) error {
	if s.closing.Load() {
		return nil // whoever asks has lost it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = fmt.Errorf("calls seen below offset %d: %w", s.next, err)
		s.store.failed(OperationRead, s.err)
	}
	return s.err
}

// Add adds what follows the set up to an offset. It waits for no file. Of a set that
// knows nothing it says where it begins.
func (s *Set) Add(to, bucket int64, fps []Fingerprint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next < 0 {
		s.next = to
	}
	if to <= s.next {
		return // nothing follows: it is said where the set begins
	}
	s.bucket = max(s.bucket, bucket)
	if s.active != nil && (s.active.bucket != s.bucket || len(s.active.entries) >= generationSize) {
		s.sealed, s.active = append(s.sealed, s.active), nil
	}
	if s.active == nil {
		s.active = &generation{extent: extent{s.next, s.next, s.bucket, s.latest()}}
	}
	s.active.grow(to, fps)
	s.next = to
	s.expire()
	s.store.wake()
}

// latest is the bucket of what was added last. The mutex is held.
func (s *Set) latest() int64 {
	switch generations := s.generations(); {
	case len(generations) > 0:
		return generations[len(generations)-1].bucket
	case len(s.runs) > 0:
		return s.runs[len(s.runs)-1].bucket
	}
	return nothing
}

// expire drops what is beyond the horizon. Runs are in the order of their buckets.
func (s *Set) expire() {
	n := 0
	for n < len(s.runs) && s.runs[n].bucket < s.bucket-Buckets {
		n++
	}
	s.expired = append(s.expired, s.runs[:n]...)
	s.runs = s.runs[n:]
}

// Close closes the set, and keeps its files. Another may be opened in its place then.
func (s *Set) Close() {
	s.closing.Store(true)
	defer s.store.forget(s)
	s.tending.Lock()
	defer s.tending.Unlock()
	s.write()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range slices.Concat(s.runs, s.expired) {
		r.file.close()
		r.log.close()
	}
	for _, g := range s.generations() {
		g.log.close()
	}
	s.active, s.sealed, s.runs, s.expired = nil, nil, nil, nil
}

// generations are those in memory, by offsets.
func (s *Set) generations() []*generation {
	all := slices.Clone(s.sealed)
	if s.active != nil {
		all = append(all, s.active)
	}
	return all
}

// counts returns how many fingerprints there are, and how many of them are in memory
// since they can't be written.
func (s *Set) counts() (all, unwritten int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, g := range s.generations() {
		all += len(g.entries)
		if g.lost.Load() {
			unwritten += len(g.entries)
		}
	}
	for _, r := range s.runs {
		all += r.count
		if r.file == nil {
			unwritten += r.count
		}
	}
	return all, unwritten
}
