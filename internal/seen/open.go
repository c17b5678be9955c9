package seen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// begin takes up the files of a new set, and has it tended.
func (s *Set) begin() *Set {
	s.next, s.loadingFrom = -1, -1
	if s.dir != "" {
		if err := s.takeUp(); err != nil {
			s.store.failed(OperationWrite, fmt.Errorf("open calls seen, which are read from the brokers: %w", err))
		}
	}
	s.store.mu.Lock()
	s.store.sets[s] = true
	s.store.mu.Unlock()
	s.store.wake()
	return s
}

// takeUp takes up what is in the set's directory, unless that was to be removed: which page
// is damaged shows only when it is read.
func (s *Set) takeUp() error {
	s.store.mu.Lock()
	spoiled := s.store.spoiled[s.dir]
	s.store.mu.Unlock()
	if spoiled {
		if err := s.store.wipe(s.dir); err != nil {
			return err
		}
	}
	return s.open()
}

// Wipe closes the set and removes its files. Those that can't be removed are not taken up
// again as long as the store is open; others are written beside them.
func (s *Set) Wipe() error {
	s.Close()
	if s.dir == "" {
		return nil
	}
	return s.store.wipe(s.dir)
}

// Anew wipes the set, and returns one that knows nothing in its place.
func (s *Set) Anew() *Set {
	_ = s.Wipe() // which is tried again
	return (&Set{store: s.store, of: s.of, dir: s.dir}).begin()
}

// open takes up the files of the set.
func (s *Set) open() error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, os.ErrNotExist) {
		return os.MkdirAll(s.dir, 0o700)
	}
	if err != nil {
		return err
	}
	var names struct{ runs, logs []string }
	for _, entry := range entries {
		switch name := entry.Name(); {
		case strings.HasSuffix(name, runSuffix):
			names.runs = append(names.runs, name)
		case strings.HasSuffix(name, logSuffix):
			names.logs = append(names.logs, name)
		case strings.HasSuffix(name, newSuffix): // a kill left it
			s.store.removed(os.Remove(filepath.Join(s.dir, name)))
		}
	}
	if s.openRuns(names.runs) {
		s.openLogs(names.logs)
	} else {
		s.drop(names.logs)
	}
	s.behead()
	return nil
}

// behead drops files whose first is not where the set begins, though what came before is
// within the horizon: it was lost.
func (s *Set) behead() {
	first := extent{after: nothing}
	if len(s.runs) > 0 {
		first = s.runs[0].extent
	} else if generations := s.generations(); len(generations) > 0 {
		first = generations[0].extent
	}
	if first.after == nothing || first.after < s.bucket-Buckets {
		return
	}
	s.unfit("", corrupt("what came before offset %d is gone", first.from))
	for _, r := range s.runs {
		s.store.removed(r.file.remove())
	}
	for _, g := range s.generations() {
		s.store.removed(g.log.remove())
	}
	s.runs, s.sealed, s.active, s.next, s.bucket = nil, nil, nil, -1, 0
}

// openRuns opens runs that follow on one another, and reports whether these are all. The
// names begin with numbers of a fixed width, so they are in the order of the offsets.
func (s *Set) openRuns(names []string) (whole bool) {
	for i, name := range names {
		ext, ok := extentOf(name, runSuffix)
		if ok && s.within(names[i+1:], ext) || ok && s.next >= ext.to {
			s.drop([]string{name}) // it was merged, and a kill left it
			continue
		}
		r, err := open(filepath.Join(s.dir, name))
		switch {
		case err != nil:
		case r.of != s.of:
			err = errors.New("it is of another topic, partition or horizon")
		case r.from != ext.from || r.to != ext.to || s.next >= 0 && r.from != s.next:
			err = corrupt("offsets %d to %d behind %d", r.from, r.to, s.next)
		}
		if err != nil {
			if r != nil {
				r.file.close()
			}
			s.unfit(name, err)
			s.drop(names[i:])
			return false
		}
		s.runs, s.next, s.bucket = append(s.runs, r), r.to, max(s.bucket, r.bucket)
	}
	return true
}

// within reports whether a run is part of one that begins with the same offset.
func (s *Set) within(names []string, ext extent) bool {
	for _, name := range names {
		if other, ok := extentOf(name, runSuffix); ok && other.from == ext.from && other.to > ext.to {
			return true
		}
	}
	return false
}

// openLogs takes up generations of which no run was made.
func (s *Set) openLogs(names []string) {
	for i, name := range names {
		of, g, err := openLog(filepath.Join(s.dir, name))
		if g != nil && of == s.of && g.to <= s.next {
			g.log.close()
			s.drop([]string{name}) // there is a run of it
			continue
		}
		if g != nil && (of != s.of || s.next >= 0 && g.from != s.next) {
			g.log.close()
			g, err = nil, errors.Join(err, errors.New("it is of another topic or horizon, or does not follow"))
		}
		if err != nil {
			s.unfit(name, err)
		}
		if g == nil {
			s.drop(names[i:])
			return
		}
		if s.active != nil {
			s.sealed = append(s.sealed, s.active)
		}
		s.active, s.next, s.bucket = g, g.to, max(s.bucket, g.bucket)
		if err != nil {
			s.drop(names[i+1:])
			return
		}
	}
}

func (s *Set) unfit(name string, err error) {
	s.store.opts.Logger.Warn("file of calls seen is of no use, what it had is read from the brokers", "file", filepath.Join(s.dir, name), "error", err)
	if errors.Is(err, errCorrupt) {
		s.store.opts.Failed(OperationRead)
	}
}

func (s *Set) drop(names []string) {
	for _, name := range names {
		s.store.removed(os.Remove(filepath.Join(s.dir, name)))
	}
}
