package seen

import (
	"errors"
	"fmt"
	"slices"
)

// tend writes logs, makes runs of generations, merges runs and removes files, as far as
// there is anything to do.
func (s *Set) tend() {
	s.tending.Lock()
	defer s.tending.Unlock()
	if s.closing.Load() || s.Err() != nil {
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
	r, err := create(s.dir, s.of, ext, len(fps), each(fps))
	if err == nil {
		return r, nil
	}
	s.store.failed(OperationWrite, fmt.Errorf("write calls seen up to offset %d, which are in memory until that succeeds: %w", ext.to, err))
	return inMemory(s.of, ext, len(fps), each(fps))
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
		written, err := create(s.dir, s.of, r.extent, r.count, r.all())
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
	streams, most := make([]stream, len(old)), 0
	for i, r := range old {
		streams[i] = r.all()
		most += r.count
	}
	var unread error
	next := merged(streams)
	r, err := create(s.dir, s.of, extent{old[0].from, old[len(old)-1].to, old[0].bucket, old[0].after}, most, func() (Fingerprint, bool, error) {
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
		s.store.removed(errors.Join(r.file.remove(), r.log.remove()))
	}
}
