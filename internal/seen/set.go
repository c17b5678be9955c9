package seen

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"
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

// Batch is what a transaction adds to a set. It belongs to the goroutine of the set.
type Batch struct {
	set    *Set
	added  table
	bucket int64
	cuts   []cut
}

// cut is an offset before which so many calls were added.
type cut struct {
	n  int
	to int64
}

// Begin returns an empty batch.
func (s *Set) Begin() *Batch { return &Batch{set: s, bucket: s.Bucket()} }

// Set is what the batch adds to.
func (b *Batch) Set() *Set { return b.set }

// Seen adds a call, whose record has an offset and a time stamp, and reports whether it
// was there: in the set, within the horizon, or in the batch. An error is [Set.Err].
func (b *Batch) Seen(fp Fingerprint, offset int64, at time.Time) (bool, error) {
	b.bucket = max(b.bucket, b.set.store.Bucket(at))
	if !b.added.add(fp) {
		return true, nil
	}
	if n := len(b.added.entries); n%cutEvery == 0 {
		b.cuts = append(b.cuts, cut{n, offset + 1})
	}
	known, err := b.set.has(fp, b.bucket)
	if err != nil {
		err = b.set.fail(err)
	}
	return known, err
}

// cutEvery is how many calls a part of a batch has.
const cutEvery = 1 << 12

// Parts are the calls of the batch, up to some thousands at a time, with the offset up to
// which they are; the last is next. They are valid until the batch is dropped.
func (b *Batch) Parts(next int64) iter.Seq2[int64, []Fingerprint] {
	return func(yield func(int64, []Fingerprint) bool) {
		n := 0
		for _, c := range b.cuts {
			if !yield(c.to, b.added.entries[n:c.n]) {
				return
			}
			n = c.n
		}
		yield(next, b.added.entries[n:])
	}
}

// Bucket is the one that the batch is in.
func (b *Batch) Bucket() int64 { return b.bucket }

// Commit puts the batch into its set, which knows all calls below next then, and empties
// it. It waits for no file.
func (b *Batch) Commit(next int64) {
	b.set.Add(next, b.bucket, b.added.entries)
	b.Drop()
}

// Drop empties the batch.
func (b *Batch) Drop() {
	b.added.reset()
	b.cuts = b.cuts[:0]
	b.bucket = b.set.Bucket()
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
		s.active = &generation{extent: extent{s.next, s.next, s.bucket}}
	}
	s.active.grow(to, fps)
	s.next = to
	s.expire()
	s.store.wake()
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

// bulk is how many fingerprints a run is made of while a set is restored.
const bulk = 1 << 20

// Load adds what follows the set, or begins it, up to an offset. It is for a set that is
// restored: it waits until files are written, and nothing is asked for until [Set.Loaded].
func (s *Set) Load(from, to, bucket int64, fps []Fingerprint) error {
	next, present := s.Next(), s.Bucket()
	if len(s.loading) > 0 && (bucket > present || len(s.loading)+len(fps) > bulk) {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case next < 0:
		s.next = from
	case from > next:
		return fmt.Errorf("calls from offset %d were to follow those below %d", from, next)
	}
	if s.loadingFrom < 0 {
		s.loadingFrom = s.next
	}
	s.bucket = max(s.bucket, bucket)
	s.loading = append(s.loading, fps...)
	s.next = max(s.next, to)
	return nil
}

// flush makes a run of what is loaded.
func (s *Set) flush() error {
	s.seal()
	s.tending.Lock()
	defer s.tending.Unlock()
	if s.closing.Load() {
		return errClosing
	}
	if err := s.Err(); err != nil {
		return err
	}
	r, err := s.make(extent{s.loadingFrom, s.Next(), s.Bucket()}, sorted(s.loading))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, r)
	s.loading, s.loadingFrom = s.loading[:0], -1
	s.expire()
	return nil
}

// seal has runs made of all that is in memory, which comes before what is loaded.
func (s *Set) seal() {
	s.mu.Lock()
	if s.active != nil {
		s.sealed, s.active = append(s.sealed, s.active), nil
	}
	s.mu.Unlock()
	s.tend()
}

// Loaded ends the loading.
func (s *Set) Loaded() error {
	defer s.store.wake()
	defer func() { s.loading = nil }()
	if len(s.loading) >= generationSize {
		return s.flush()
	}
	if s.loadingFrom < 0 {
		return nil
	}
	s.mu.Lock()
	to := s.next
	s.next = s.loadingFrom
	s.loadingFrom = -1
	s.mu.Unlock()
	s.Add(to, s.Bucket(), s.loading)
	return nil
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

// tend writes logs, makes runs of generations, merges runs and removes files, as far as
// there is anything to do.
func (s *Set) tend() {
	s.tending.Lock()
	defer s.tending.Unlock()
	if s.closing.Load() {
		return
	}
	s.write()
	s.settle()
	for s.merge() {
		s.write() // a merge takes its time
	}
	s.clean()
}

// write writes what logs lack.
func (s *Set) write() {
	type part struct {
		of     *generation
		chunks []chunk
	}
	s.mu.Lock()
	all := s.generations()
	parts := make([]part, 0, len(all))
	for _, g := range all {
		parts = append(parts, part{g, g.unwritten})
		g.unwritten = nil
	}
	s.mu.Unlock()
	if s.dir == "" {
		return
	}
	for _, p := range parts {
		if err := p.of.write(s.dir, s.of, p.chunks); err != nil {
			s.store.failed(OperationWrite, fmt.Errorf("write the log of calls seen: %w", err))
		}
	}
}

// settle makes runs of sealed generations, and writes those that could not be written.
func (s *Set) settle() {
	for !s.closing.Load() {
		s.mu.RLock()
		var g *generation
		if len(s.sealed) > 0 {
			g = s.sealed[0]
		}
		s.mu.RUnlock()
		if g == nil {
			break
		}
		r, err := s.make(g.extent, sorted(g.entries))
		if err != nil {
			_ = s.fail(err) // which whoever asks next is told
			return
		}
		s.mu.Lock()
		s.runs, s.sealed = append(s.runs, r), s.sealed[1:]
		s.expire()
		s.mu.Unlock()
		if r.log = g.log; r.file != nil {
			s.store.removed(r.log.remove())
			r.log = nil
		}
	}
	s.rewrite()
}

// make makes a run; in memory when it can't be written.
func (s *Set) make(ext extent, fps []Fingerprint) (*run, error) {
	r, err := create(s.dir, s.of, ext, each(fps))
	if err == nil {
		return r, nil
	}
	s.store.failed(OperationWrite, fmt.Errorf("write calls seen up to offset %d, which are in memory until that succeeds: %w", ext.to, err))
	return inMemory(s.of, ext, each(fps))
}

// rewrite writes the runs that are in memory, some time after that failed.
func (s *Set) rewrite() {
	s.mu.RLock()
	runs := slices.Clone(s.runs)
	s.mu.RUnlock()
	for _, r := range runs {
		if r.file != nil || !s.store.mayRetry() {
			continue
		}
		written, err := create(s.dir, s.of, r.extent, r.all())
		if err != nil {
			s.store.failed(OperationWrite, fmt.Errorf("write calls seen: %w", err))
			return
		}
		s.replace([]*run{r}, written)
	}
}

// replace puts a run in the place of others, and removes these.
func (s *Set) replace(old []*run, by *run) {
	s.mu.Lock()
	at := slices.Index(s.runs, old[0])
	if at >= 0 && s.err == nil {
		s.runs = slices.Replace(slices.Clone(s.runs), at, at+len(old), by)
	} else {
		old = []*run{by} // they have expired meanwhile
	}
	s.mu.Unlock()
	for _, r := range old {
		s.store.removed(errors.Join(r.file.remove(), r.log.remove()))
	}
}

var errClosing = errors.New("closing")

// merge merges some runs, and reports whether there were any.
func (s *Set) merge() bool {
	s.mu.RLock()
	from, to := mergeable(s.runs, s.bucket)
	old := slices.Clone(s.runs[from:to])
	s.mu.RUnlock()
	if len(old) == 0 || s.closing.Load() || !s.store.mayRetry() {
		return false
	}
	streams := make([]stream, len(old))
	for i, r := range old {
		streams[i] = r.all()
	}
	var unread error
	next := merged(streams)
	r, err := create(s.dir, s.of, extent{old[0].from, old[len(old)-1].to, old[0].bucket}, func() (Fingerprint, bool, error) {
		if s.closing.Load() {
			return Fingerprint{}, false, errClosing
		}
		fp, more, err := next()
		unread = err
		return fp, more, err
	})
	switch {
	case errors.Is(err, errClosing):
		return false
	case unread != nil:
		_ = s.fail(unread) // which whoever asks next is told
		return false
	case err != nil:
		s.store.failed(OperationWrite, fmt.Errorf("merge files of calls seen: %w", err))
		return false
	}
	s.replace(old, r)
	return true
}

// clean removes the files of what is beyond the horizon.
func (s *Set) clean() {
	s.mu.Lock()
	gone := s.expired
	s.expired = nil
	s.mu.Unlock()
	for _, r := range gone {
		s.store.removed(r.file.remove())
	}
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
