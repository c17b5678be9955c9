package offsets

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func position(t *Tracker) int64 {
	offset, _ := t.Position()
	return offset
}

func TestPositionIsTheLowestUnfinished(t *testing.T) {
	tr := NewTracker(Done{})
	for _, offset := range []int64{10, 11, 14, 20} { // 12, 13 and 15 to 19 are gaps
		if got := tr.Begin(offset, int32(offset), 0); got != Fresh {
			t.Fatalf("Begin(%d) = %d, expected Fresh", offset, got)
		}
	}
	steps := []struct {
		finish int64
		offset int64
		epoch  int32
		open   int
	}{
		{finish: 14, offset: 10, epoch: -1, open: 4},
		{finish: 10, offset: 11, epoch: 10, open: 3},
		{finish: 20, offset: 11, epoch: 10, open: 3},
		{finish: 11, offset: 21, epoch: 20, open: 0},
	}
	for i, s := range steps {
		tr.Finish(s.finish, 0)
		offset, epoch := tr.Position()
		if offset != s.offset || epoch != s.epoch || len(tr.open) != s.open || tr.Revision() != uint64(i+1) {
			t.Fatalf("after Finish(%d): Position() = %d, %d, %d open, Revision() = %d; expected %d, %d, %d, %d",
				s.finish, offset, epoch, len(tr.open), tr.Revision(), s.offset, s.epoch, s.open, i+1)
		}
	}
}

func TestBeginRefusesToGoBack(t *testing.T) {
	tr := NewTracker(Done{})
	tr.Begin(0, 0, 0)
	tr.Begin(5, 0, 0)
	for _, offset := range []int64{5, 3, 0} {
		if got := tr.Begin(offset, 0, 0); got != Rewound {
			t.Errorf("Begin(%d) after 5 = %d, expected Rewound", offset, got)
		}
	}
	if len(tr.open) != 2 {
		t.Errorf("%d open, expected 2: a refused offset was noted", len(tr.open))
	}
}

func TestFinishIgnoresWhatIsNotOpen(t *testing.T) {
	tr := NewTracker(Done{})
	tr.Begin(1, 0, 0)
	tr.Finish(0, 0)
	tr.Finish(2, 0)
	if tr.Revision() != 0 || position(tr) != 1 {
		t.Fatalf("Position() = %d at revision %d, expected 1 at 0", position(tr), tr.Revision())
	}
	tr.Finish(1, 0)
	tr.Finish(1, 0) // a second time: cut off already
	if tr.Revision() != 1 || position(tr) != 2 {
		t.Fatalf("Position() = %d at revision %d, expected 2 at 1", position(tr), tr.Revision())
	}
}

// TestAnotherTrackerGoesOn: the second tracker reads from the first one's commit
// and works on exactly what the first had not finished.
func TestAnotherTrackerGoesOn(t *testing.T) {
	first := NewTracker(Done{})
	for offset := range int64(10) {
		first.Begin(offset, 3, 0)
	}
	for _, offset := range []int64{0, 1, 3, 4, 7} {
		first.Finish(offset, 0)
	}
	at := position(first)
	second := NewTracker(Decode(at, first.Done().Encode(at)))
	var fresh []int64
	for offset := at; offset < 7; offset++ {
		if second.Begin(offset, 3, 0) == Fresh {
			fresh = append(fresh, offset)
		}
	}
	if want := []int64{2, 5, 6}; !slices.Equal(fresh, want) {
		t.Fatalf("fresh are %v, expected %v", fresh, want)
	}
	for _, offset := range fresh {
		second.Finish(offset, 0)
	}
	at = position(second)
	if at != 7 {
		t.Fatalf("Position() = %d, expected 7", at)
	}
	// 7 was not read again, and is still known to be finished.
	third := NewTracker(Decode(at, second.Done().Encode(at)))
	if third.Begin(7, 3, 0) != Known || third.Begin(8, 3, 0) != Fresh {
		t.Fatal("what had finished before the first of two restarts is forgotten")
	}
}

func TestARecordInThePlaceOfAnotherIsFresh(t *testing.T) {
	first := NewTracker(Done{})
	first.Begin(0, 1, 0)
	first.Begin(1, 2, 0)
	first.Begin(2, 2, 0)
	first.Finish(1, 0)
	first.Finish(2, 0)
	second := NewTracker(Decode(0, first.Done().Encode(0)))
	second.Begin(0, 1, 0)
	if got := second.Begin(1, 3, 0); got != Fresh {
		t.Errorf("a record of a later epoch = %d, expected Fresh: the log lost its tail", got)
	}
	if got := second.Begin(2, 2, 0); got != Known {
		t.Errorf("a record of the same epoch = %d, expected Known", got)
	}
}

// model is the obvious way to keep the same: a sorted list of all that was read
// and a set of all that has finished, over any number of restarts.
type model struct {
	log      []int64 // all offsets, ascending, with gaps
	marker   map[int64]bool
	read     int // how many of them were read since the last restart
	finished map[int64]bool
	epoch    map[int64]int32 // of those that were written anew
	begun    map[int64]Reading
	leader   int32
	gone     []flying
}

// flying is a record that was begun, and whose place another one has taken since.
type flying struct {
	offset int64
	in     Reading
}

// rewind has the log written anew from one of the records that were read.
func (m *model) rewind(t *testing.T, tr *Tracker, from int) {
	t.Helper()
	for m.marker[m.log[from]] {
		if from++; from == m.read {
			return
		}
	}
	m.leader++
	for _, offset := range m.log[from:] {
		if in, begun := m.begun[offset]; begun {
			m.gone = append(m.gone, flying{offset, in})
		}
		delete(m.begun, offset)
		m.finished[offset], m.epoch[offset] = m.marker[offset], m.leader
	}
	m.read = from
	if got := tr.Begin(m.log[from], m.leader, 0); got != Rewound {
		t.Fatalf("Begin(%d), written anew, = %d, expected Rewound", m.log[from], got)
	}
	tr.Rewind(m.log[from])
	m.begin(t, tr)
}

// position is the first unfinished record that was read, else the end of what
// was.
func (m *model) position() int64 {
	for _, offset := range m.log[:m.read] {
		if !m.finished[offset] {
			return offset
		}
	}
	return m.log[m.read-1] + 1
}

func (m *model) unfinished() int {
	count := 0
	for _, offset := range m.log[:m.read] {
		if !m.finished[offset] {
			count++
		}
	}
	return count
}

// compare runs one sequence of operations, given as bytes, against the model.
func compare(t *testing.T, ops []byte) {
	t.Helper()
	m := model{
		finished: make(map[int64]bool), marker: make(map[int64]bool),
		epoch: make(map[int64]int32), begun: make(map[int64]Reading),
	}
	for i, offset := 0, int64(0); i <= len(ops); i++ {
		m.log = append(m.log, offset)
		if i < len(ops) && ops[i]%16 == 3 {
			m.marker[offset], m.finished[offset] = true, true
		}
		offset++
		if i < len(ops) {
			offset += int64(ops[i]) % 4
		}
	}
	tr := NewTracker(Done{})
	committed, metadata := int64(0), ""
	for i, op := range ops {
		switch {
		case op%16 == 7 && m.read > 0 && tr.seen:
			m.rewind(t, tr, int(op>>4)*m.read/16)
		case op%8 == 7: // a restart
			if tr.Revision() > 0 {
				committed = position(tr)
				metadata = tr.Done().Encode(committed)
			}
			tr = NewTracker(Decode(committed, metadata))
			m.read, _ = slices.BinarySearch(m.log, committed)
			m.gone = nil
			clear(m.begun)
			continue
		case op%8 < 4 || m.read == 0:
			m.begin(t, tr)
		case op%8 == 4 && len(m.gone) > 0:
			late := m.gone[int(op>>3)%len(m.gone)]
			tr.Finish(late.offset, late.in)
		default:
			done := m.log[int(op>>3)%m.read]
			if in, begun := m.begun[done]; begun {
				tr.Finish(done, in)
				m.finished[done] = true
			}
		}
		m.check(t, i, tr)
	}
}

// check compares the tracker with the model after an operation.
func (m *model) check(t *testing.T, op int, tr *Tracker) {
	t.Helper()
	if got, want := position(tr), m.position(); tr.seen && got != want {
		t.Fatalf("op %d: Position() = %d, expected %d", op, got, want)
	}
	if got, want := tr.Unfinished(), m.unfinished(); got != want {
		t.Fatalf("op %d: Unfinished() = %d, expected %d", op, got, want)
	}
	// The events of the model are taken when their offset says.
	if oldest, ok := tr.Oldest(); ok != (m.unfinished() > 0) || ok && oldest != m.position() {
		t.Fatalf("op %d: Oldest() = %d, %t, expected that of %d", op, oldest, ok, m.position())
	}
}

// begin reads the next offset.
func (m *model) begin(t *testing.T, tr *Tracker) {
	t.Helper()
	next := m.log[m.read]
	m.read++
	if m.marker[next] {
		if moved := tr.Pass(next, m.epoch[next]); moved != (m.unfinished() == 0) {
			t.Fatalf("Pass(%d) = %t with %d unfinished", next, moved, m.unfinished())
		}
		return
	}
	want := Fresh
	if m.finished[next] {
		want = Known
	}
	if got := tr.Begin(next, m.epoch[next], next); got != want {
		t.Fatalf("Begin(%d) = %d, expected %d", next, got, want)
	}
	m.begun[next] = tr.Reading()
}

// TestALogWrittenAnewFromTheMiddle: what is still in the log below the cut holds the
// position until it is finished; what stood above no longer counts.
func TestALogWrittenAnewFromTheMiddle(t *testing.T) {
	tr := NewTracker(Done{})
	for offset := range int64(5) {
		tr.Begin(10+offset, 0, 0)
	}
	old := tr.Reading()
	tr.Rewind(13)
	for _, offset := range []int64{13, 14} {
		tr.Begin(offset, 1, 0)
		tr.Finish(offset, old)
	}
	if got := tr.Unfinished(); got != 5 {
		t.Errorf("%d are unfinished, want 5: records that are gone have finished others", got)
	}
	tr.Finish(13, tr.Reading())
	tr.Finish(14, tr.Reading())
	for _, offset := range []int64{10, 11, 12} {
		if got := position(tr); got != offset {
			t.Errorf("Position() = %d, want %d, which is unfinished", got, offset)
		}
		tr.Finish(offset, old)
	}
	if at, epoch := tr.Position(); at != 15 || epoch != 1 {
		t.Errorf("Position() = %d, %d, want 15, 1", at, epoch)
	}
}

// TestALogWrittenAnewFromBelow begins with the epoch of no record: the one before the
// cut was written by a leader that is not known any more.
func TestALogWrittenAnewFromBelow(t *testing.T) {
	tr := NewTracker(Done{})
	tr.Begin(10, 3, 0)
	tr.Finish(10, 0)
	tr.Rewind(7)
	if at, epoch := tr.Position(); at != 7 || epoch != -1 {
		t.Errorf("Position() = %d, %d, want 7, -1", at, epoch)
	}
	tr.Begin(7, 4, 0)
	if at, epoch := tr.Position(); at != 7 || epoch != -1 {
		t.Errorf("Position() = %d, %d, want 7, -1", at, epoch)
	}
}

func TestMarkersArePassedOver(t *testing.T) {
	tr := NewTracker(Done{})
	if tr.Pass(4, 1); position(tr) != 5 {
		t.Errorf("behind a marker alone Position() = %d, want 5", position(tr))
	}
	tr.Begin(5, 1, 0)
	tr.Begin(6, 1, 0)
	tr.Pass(7, 2)
	tr.Finish(6, 0)
	if at, epoch := tr.Position(); at != 5 || epoch != -1 {
		t.Errorf("before an unfinished record Position() = %d, %d, want 5, -1", at, epoch)
	}
	if tr.Done().Empty() {
		t.Error("the record that is finished beyond it is forgotten")
	}
	tr.Finish(5, 0)
	// The epoch is the marker's: with that of the record before it a broker would
	// take the offset for one of a log that was cut off.
	if at, epoch := tr.Position(); at != 8 || epoch != 2 {
		t.Errorf("Position() = %d, %d, want 8, 2", at, epoch)
	}
	if tr.Pass(7, 2) || tr.Begin(7, 2, 0) != Rewound {
		t.Error("what was passed is new again")
	}
}

func TestWhatWasFinishedAheadIsNotToBeRead(t *testing.T) {
	tr := NewTracker(Done{runs: []run{{3, 5}, {8, 10}}})
	for next, want := range map[int64]int64{0: 4, 4: 3, 6: 2, 9: 1, 12: 0} {
		if tr.seen, tr.last = true, next-1; tr.Ahead() != want {
			t.Errorf("from %d on Ahead() = %d, want %d", next, tr.Ahead(), want)
		}
	}
}

func TestTrackerAgainstASortedSet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		ops := make([]byte, 1+random.IntN(300))
		for i := range ops {
			ops[i] = byte(random.Uint32())
		}
		compare(t, ops)
	}
}

func FuzzTracker(f *testing.F) {
	f.Add([]byte{0, 5})
	f.Add([]byte{0, 2, 0, 12, 15, 0, 4, 15, 0, 0})
	f.Add([]byte{8, 0, 0, 9, 15, 5, 3, 1})
	f.Add([]byte{0, 0, 0, 5, 135, 4, 0, 15, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) > 1000 {
			t.Skip("the model is quadratic")
		}
		compare(t, ops)
	})
}

// BenchmarkTracker keeps 64 records in flight that finish in random order, as a
// destination at its limit does.
func BenchmarkTracker(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	tr := NewTracker(Done{})
	var flying []int64
	offset := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		for len(flying) < 64 {
			tr.Begin(offset, 0, 0)
			flying = append(flying, offset)
			offset++
		}
		i := random.IntN(len(flying))
		tr.Finish(flying[i], 0)
		flying[i] = flying[len(flying)-1]
		flying = flying[:len(flying)-1]
	}
}

// BenchmarkTrackerBehindOneThatHangs is the worst case: ten thousand finished
// records wait for the first.
func BenchmarkTrackerBehindOneThatHangs(b *testing.B) {
	b.ReportAllocs()
	tr := NewTracker(Done{})
	offset := int64(0)
	for b.Loop() {
		if len(tr.open) == 0 {
			tr.Begin(offset, 0, 0)
			offset++
		}
		tr.Begin(offset, 0, 0)
		tr.Finish(offset, 0)
		offset++
		if len(tr.open) == 10_000 {
			tr = NewTracker(Done{})
		}
	}
}
