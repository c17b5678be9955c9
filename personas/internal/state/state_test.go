package state_test

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/state"
)

var takes = []definition.Aggregate{
	definition.Count, definition.Sum, definition.Avg, definition.Min, definition.Max, definition.First, definition.Last,
	definition.MostFrequent, definition.Unique, definition.UniqueCount,
}

const day = 24 * time.Hour

var windows = []definition.Window{
	{},
	{Kind: definition.Within, Far: 90 * day},
	{Kind: definition.Between, Far: 90 * day, Near: 30 * day},
	{Kind: definition.Since, Since: time.UnixMilli(0), Until: time.UnixMilli(1e15)},
}

// specs returns one of each form and content.
func specs() (all []state.Spec) {
	for _, take := range takes {
		for _, w := range windows {
			all = append(all, state.SpecOf(take, w, 4), state.SpecOf(take, w, 100))
		}
	}
	return all
}

// A bucket is a 168th of its window at most, and no window has more than 400.
func TestBucketsAreNarrow(t *testing.T) {
	t.Parallel()
	for _, far := range []time.Duration{90 * time.Second, time.Hour, 12 * time.Hour, day, 7 * day, 30 * day, 90 * day, 365 * day, 3650 * day} {
		s := state.SpecOf(definition.Sum, definition.Window{Kind: definition.Within, Far: far}, 0)
		if n := far.Milliseconds() / s.Grain; n < 168 || n > 600 {
			t.Errorf("%v: %d buckets of %d ms", far, n, s.Grain)
		}
	}
	s := state.SpecOf(definition.Sum, definition.Window{Kind: definition.Within, Far: 7 * day}, 0)
	const hour = 3_600_000
	for at, want := range map[int64]int64{0: 0, hour - 1: 0, hour: hour, -1: -hour, -hour: -hour} {
		if got := s.At(at); got != want {
			t.Errorf("%d counts as %d, expected %d", at, got, want)
		}
	}
}

// Folds commute, and so do merges, whatever is kept.
func TestFoldsCommute(t *testing.T) {
	t.Parallel()
	var events []state.Event
	for i := range int64(40) {
		at := (i*i*7_919_000_003)%(80*day.Milliseconds()) + 1_700_000_000_000
		number := float64(i % 7)
		events = append(events, state.Event{At: at, Offset: i, Value: []byte{byte('0' + i%7)}, Number: number})
	}
	for _, s := range specs() {
		s.Cap = min(s.Cap, 7)
		if s.Form == state.Values {
			s.Cap = 7
		}
		forth, back, half, rest := s.New(), s.New(), s.New(), s.New()
		for i, e := range events {
			forth.Fold(&s, e)
			back.Fold(&s, events[len(events)-1-i])
			if i%2 == 0 {
				half.Fold(&s, e)
			} else {
				rest.Fold(&s, e)
			}
		}
		rest.Merge(&s, half)
		const clock = 1_700_000_000_000 + 80*24*3_600_000
		want := forth.Append(nil, &s, clock)
		if got := back.Append(nil, &s, clock); !bytes.Equal(got, want) {
			t.Errorf("%s: backwards %x, expected %x", &s, got, want)
		}
		if got := rest.Append(nil, &s, clock); !bytes.Equal(got, want) {
			t.Errorf("%s: merged %x, expected %x", &s, got, want)
		}
		read, err := s.Decode(want)
		if err != nil || !bytes.Equal(read.Append(nil, &s, clock), want) {
			t.Errorf("%s: read back as another one, %v", &s, err)
		}
	}
}

// FuzzDecode: no bytes do harm to any form, and what is read is written in a form that is
// read as the same.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{}, byte(0))
	f.Add([]byte{1, 2, 3, 4, 5, 6}, byte(7))
	f.Add([]byte("\x03\"a\"\x02\x01\x02\x03"), byte(60))
	all := specs()
	f.Fuzz(func(t *testing.T, raw []byte, which byte) {
		s := all[int(which)%len(all)]
		st, err := s.Decode(raw)
		if err != nil {
			return
		}
		for _, take := range takes {
			q := state.Query{Spec: &s, Take: take, Window: state.WindowOf(windows[1]), AtLeast: 2}
			q.Get(st, 1_700_000_000_000).JSON()
			q.Edge(st, 1_700_000_000_000)
		}
		st.Clone().Merge(&s, st)
		st.Fold(&s, state.Event{At: 1_700_000_000_000, Value: []byte("7"), Number: 7})
		written := st.Append(nil, &s, math.MinInt64/2)
		again, err := s.Decode(written)
		if err != nil {
			t.Fatalf("%s: %x is not read: %v", &s, written, err)
		}
		if twice := again.Append(nil, &s, math.MinInt64/2); !bytes.Equal(twice, written) {
			t.Errorf("%s: %x is written as %x", &s, written, twice)
		}
	})
}

// since <= t < until, to the millisecond.
func TestPeriodsHaveEdges(t *testing.T) {
	t.Parallel()
	s := state.SpecOf(definition.Count, definition.Window{Kind: definition.Since, Since: time.UnixMilli(10), Until: time.UnixMilli(20)}, 1)
	for at, want := range map[int64]bool{9: false, 10: true, 19: true, 20: false} {
		if got, late := s.Takes(at, 1_000); got != want || late {
			t.Errorf("an event at %d: takes it %v, late %v", at, got, late)
		}
	}
}

// Of two values of one instant the one that comes later in the log is the newer, in
// whatever order they arrive; of a set that is full, and values equally old, the last in
// order goes.
func TestTies(t *testing.T) {
	t.Parallel()
	event := func(value string, offset int64) state.Event {
		return state.Event{At: 1_700_000_000_000, Offset: offset, Value: []byte(value)}
	}
	for _, c := range []struct {
		take definition.Aggregate
		want string
	}{{definition.Last, `"a"`}, {definition.First, `"b"`}, {definition.Unique, `["a","b"]`}} {
		for _, order := range [][]state.Event{
			{event(`"a"`, 3), event(`"b"`, 1), event(`"c"`, 2)},
			{event(`"c"`, 2), event(`"b"`, 1), event(`"a"`, 3)},
		} {
			s := state.SpecOf(c.take, definition.Window{}, 2)
			st := s.New()
			for _, e := range order {
				st.Fold(&s, e)
			}
			q := state.Query{Spec: &s, Take: c.take}
			if got := string(q.Get(st, 1_700_000_000_000).JSON()); got != c.want {
				t.Errorf("%s: got %s, expected %s", c.take, got, c.want)
			}
		}
	}
}

// TestAFullSetForgets: at its cap a set has all of its values, and each time that they came;
// one past it the oldest is forgotten, with when it came, and begins anew if it comes again.
func TestAFullSetForgets(t *testing.T) {
	t.Parallel()
	between := definition.Window{Kind: definition.Between, Far: 90 * day, Near: 30 * day}
	for _, c := range []struct {
		most, dropped int
		want          [3]string // while the first visit is in the window, when all three are, and when the last one is alone
	}{
		{2, 0, [3]string{`["x"]`, `["x","y"]`, `["x"]`}},
		{1, 2, [3]string{`[]`, `["x"]`, `["x"]`}},
	} {
		s := state.SpecOf(definition.Unique, between, c.most)
		q := state.Query{Spec: &s, Take: definition.Unique, Window: state.WindowOf(between)}
		st, dropped := s.New(), 0
		for i, value := range []string{`"x"`, `"y"`, `"x"`} {
			_, n := st.Fold(&s, state.Event{At: int64(1+i) * 10 * day.Milliseconds(), Value: []byte(value)})
			dropped += n
		}
		if dropped != c.dropped {
			t.Errorf("at most %d: %d were dropped, expected %d", c.most, dropped, c.dropped)
		}
		for i, days := range []int64{45, 70, 115} {
			if got := string(q.Get(st, days*day.Milliseconds()).JSON()); got != c.want[i] {
				t.Errorf("at most %d, on day %d: %s, expected %s", c.most, days, got, c.want[i])
			}
		}
	}
}
