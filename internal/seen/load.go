package seen

import "fmt"

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
	s.mu.RLock()
	ext := extent{s.loadingFrom, s.next, s.bucket, s.latest()}
	s.mu.RUnlock()
	r, err := s.make(ext, sorted(s.loading))
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
