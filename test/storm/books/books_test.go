package books

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var epoch = time.UnixMicro(1_700_000_000_000_000)

func stamp(producer string, key, sequence int) Stamp {
	return Stamp{Run: "r", Producer: producer, Key: key, Sequence: sequence, At: epoch.Add(time.Duration(sequence) * time.Second)}
}

func yes(int) bool { return true }
func no(int) bool  { return false }

func TestTally(t *testing.T) {
	cases := map[string]struct {
		happens func(*Books)
		want    Tally
	}{
		"delivered once": {
			func(b *Books) { b.Promised(stamp("p", 0, 0)); b.Arrived(stamp("p", 0, 0), epoch, yes) },
			Tally{Sent: 1},
		},
		"delivered before its producer heard that it was stored": {
			func(b *Books) { b.Arrived(stamp("p", 0, 0), epoch, yes); b.Promised(stamp("p", 0, 0)) },
			Tally{Sent: 1},
		},
		"never arrived": {
			func(b *Books) { b.Promised(stamp("p", 0, 0)) },
			Tally{Sent: 1, Lost: 1},
		},
		"never promised": {
			func(b *Books) { b.Arrived(stamp("p", 0, 0), epoch, yes) },
			Tally{},
		},
		"refused, and then nothing": {
			func(b *Books) { b.Promised(stamp("p", 0, 0)); b.Arrived(stamp("p", 0, 0), epoch, no) },
			Tally{Sent: 1, Lost: 1},
		},
		"accepted at the second attempt is no duplicate": {
			func(b *Books) {
				b.Promised(stamp("p", 0, 0))
				b.Arrived(stamp("p", 0, 0), epoch, no)
				b.Arrived(stamp("p", 0, 0), epoch, yes)
			},
			Tally{Sent: 1},
		},
		"accepted three times": {
			func(b *Books) {
				b.Promised(stamp("p", 0, 0))
				for range 3 {
					b.Arrived(stamp("p", 0, 0), epoch, yes)
				}
			},
			Tally{Sent: 1, Doubled: 2},
		},
		"in dead-letters": {
			func(b *Books) { b.Promised(stamp("p", 0, 0)); b.Dead(stamp("p", 0, 0)); b.Dead(stamp("p", 0, 0)) },
			Tally{Sent: 1, Dead: 1},
		},
		"an older event of the key comes late": {
			func(b *Books) {
				b.Arrived(stamp("p", 0, 5), epoch, yes)
				b.Arrived(stamp("p", 0, 3), epoch, yes)
				b.Arrived(stamp("p", 0, 4), epoch, yes)
			},
			Tally{Inverted: 2},
		},
		"other keys, other producers and repeats may come in any order": {
			func(b *Books) {
				b.Arrived(stamp("p", 0, 5), epoch, no)
				b.Arrived(stamp("p", 1, 3), epoch, yes)
				b.Arrived(stamp("q", 0, 2), epoch, yes)
				b.Arrived(stamp("p", 0, 6), epoch, yes)
				b.Arrived(stamp("p", 0, 5), epoch, yes)
			},
			Tally{},
		},
		"of another run": {
			func(b *Books) {
				s := stamp("p", 0, 0)
				s.Run = "earlier"
				b.Promised(s)
				b.Arrived(s, epoch, yes)
			},
			Tally{},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := New("r")
			c.happens(b)
			if diff := cmp.Diff(c.want, b.Tally(nil)); diff != "" {
				t.Errorf("tally (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTallyPicksProducers(t *testing.T) {
	b := New("r")
	b.Promised(stamp("p", 0, 0))
	b.Promised(stamp("q", 0, 0))
	b.Promised(stamp("q", 0, 1))
	got := b.Tally(func(producer string) bool { return producer == "q" })
	if want := (Tally{Sent: 2, Lost: 2}); got != want {
		t.Errorf("tally of q: %+v, expected %+v", got, want)
	}
}

func TestArrivedTellsOfEarlierAttempts(t *testing.T) {
	b := New("r")
	var told []int
	for range 3 {
		b.Arrived(stamp("p", 0, 0), epoch, func(before int) bool { told = append(told, before); return false })
	}
	if diff := cmp.Diff([]int{0, 1, 2}, told); diff != "" {
		t.Errorf("earlier attempts (-want +got):\n%s", diff)
	}
}

func TestRepeats(t *testing.T) {
	b := New("r")
	for i := range 4 {
		b.Arrived(stamp("p", 0, i), epoch, yes)
	}
	b.Arrived(stamp("p", 0, 2), epoch.Add(5200*time.Millisecond), yes)
	b.Arrived(stamp("p", 0, 3), epoch.Add(time.Second), yes)
	if diff := cmp.Diff([]string{"p event 2 after 5.2s", "p event 3 after 1s"}, b.Repeats(3)); diff != "" {
		t.Errorf("repeats (-want +got):\n%s", diff)
	}
	if some := b.Repeats(1); len(some) != 1 {
		t.Errorf("%d repeats, expected no more than asked for", len(some))
	}
}

func TestLatencies(t *testing.T) {
	b := New("r")
	for i := range 5 { // made a second apart
		b.Promised(stamp("p", 0, i))
	}
	arrive := func(sequence int, after time.Duration) {
		s := stamp("p", 0, sequence)
		b.Arrived(s, s.At.Add(after), yes)
	}
	arrive(1, 10*time.Millisecond)
	arrive(1, time.Hour) // its repeat does not make it slower
	arrive(2, 20*time.Millisecond)
	arrive(4, time.Millisecond) // beyond the span
	now := epoch.Add(10 * time.Second)
	got := b.Latencies(Span{From: epoch.Add(time.Second), To: epoch.Add(4 * time.Second)}, now, nil)
	want := []time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 7 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("latencies, of which the last has not arrived (-want +got):\n%s", diff)
	}
}

func TestDeliveriesCountFromTheStoring(t *testing.T) {
	b := New("r")
	b.Stored(stamp("p", 0, 0), epoch.Add(300*time.Millisecond))
	b.Stored(stamp("p", 0, 0), epoch.Add(time.Minute)) // heard again
	b.Arrived(stamp("p", 0, 0), epoch.Add(500*time.Millisecond), yes)
	b.Stored(stamp("p", 0, 1), epoch.Add(3*time.Second)) // after its delivery
	b.Arrived(stamp("p", 0, 1), epoch.Add(2*time.Second), yes)
	b.Stored(stamp("p", 0, 2), epoch.Add(4*time.Second)) // not delivered
	got := b.Deliveries(Span{To: epoch.Add(time.Minute)}, epoch.Add(10*time.Second), nil)
	if diff := cmp.Diff([]time.Duration{200 * time.Millisecond, 0, 6 * time.Second}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAcceptedCountsFirstAcceptancesWithinTheSpan(t *testing.T) {
	b := New("r")
	for i, at := range []time.Duration{0, time.Second, time.Second, 2 * time.Second} {
		b.Arrived(stamp("p", 0, i), epoch.Add(at), yes)
	}
	b.Arrived(stamp("p", 0, 0), epoch.Add(time.Second), yes)
	if got := b.Accepted(Span{From: epoch.Add(time.Second), To: epoch.Add(2 * time.Second)}, nil); got != 2 {
		t.Errorf("%d accepted within the second, expected 2", got)
	}
}

func TestOpenIsWhatWasPromisedWithinTheSpan(t *testing.T) {
	b := New("r")
	for i := range 4 {
		b.Promised(stamp("p", 0, i))
	}
	b.Arrived(stamp("p", 0, 1), epoch, yes)
	if got := b.Open(Span{To: epoch.Add(3 * time.Second)}); got != 2 {
		t.Errorf("%d open of three, of which one has arrived", got)
	}
	b.Dead(stamp("p", 0, 0))
	if got := b.Open(Span{To: epoch.Add(3 * time.Second)}); got != 1 {
		t.Errorf("%d open of three, of which one has arrived and one is dead", got)
	}
}

func TestOffered(t *testing.T) {
	t.Parallel()
	b := New("run")
	s := Stamp{Run: "run", Producer: "p"}
	arrive := func() { b.Arrived(s, time.Now(), func(int) bool { return true }) }
	b.Offered(s)
	b.Offered(s)
	arrive()
	arrive()
	if n := b.Unasked(); n != 0 {
		t.Errorf("%d unasked after two offers and two arrivals", n)
	}
	b.Offered(Stamp{Run: "run", Producer: "p", Sequence: 1})
	if n := b.Again(); n != 1 {
		t.Errorf("%d offered again of two events, one of them offered twice", n)
	}
	arrive()
	if n := b.Unasked(); n != 1 {
		t.Errorf("%d unasked after two offers and three arrivals, expected 1", n)
	}
}
