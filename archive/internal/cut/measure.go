package cut

import "time"

// Limits say when a range is closed.
type Limits struct {
	Bytes   int           // of its lines
	Age     time.Duration // of its first record
	Objects int           // that it makes: each is a compressor of its own while it is written
}

// Record is what is measured of a record.
type Record struct {
	Offset int64
	Bytes  int       // of its line
	Object string    // that it goes to, but for the offsets: source and day
	At     time.Time // when it was written to the partition
}

// measure is what was read of a range that is still open. The zero value is one of which
// nothing was.
type measure struct {
	records int
	bytes   int
	oldest  time.Time // when the first record was written,
	opened  time.Time // and when it was read
	objects map[string]bool
}

// fits reports whether a record may join the range: the first one always may.
func (m *measure) fits(r *Record, l *Limits) bool {
	if m.records == 0 {
		return true
	}
	return m.bytes+r.Bytes <= l.Bytes && (m.objects[r.Object] || len(m.objects) < l.Objects)
}

func (m *measure) add(r *Record, now time.Time) {
	if m.records == 0 {
		m.oldest, m.opened = r.At, now
	}
	if m.objects == nil {
		m.objects = make(map[string]bool)
	}
	m.records++
	m.bytes += r.Bytes
	m.objects[r.Object] = true
}

// ripe reports whether a range is to be closed although there is room. By the age of its
// records, so that a process that is often restarted stores them too; but where there are
// more to be read at once, they come first: a backlog is old from its first record on.
func (m *measure) ripe(l *Limits, now time.Time, atEnd bool) bool {
	if m.records == 0 {
		return false
	}
	return now.Sub(m.opened) >= l.Age || atEnd && now.Sub(m.oldest) >= l.Age
}

func (m *measure) reset() {
	clear(m.objects)
	*m = measure{objects: m.objects}
}
