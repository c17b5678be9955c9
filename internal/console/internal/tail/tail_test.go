package tail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/virtual"
)

// log is a raw-events of one partition that a test writes.
type log struct {
	records chan *kgo.Record
	begun   []From // one for each reader
	ended   int
	fail    chan error
}

func newLog() *log {
	return &log{records: make(chan *kgo.Record), fail: make(chan error)}
}

func (l *log) read(ctx context.Context, from From, to Feed) error {
	l.begun = append(l.begun, from)
	defer func() { l.ended++ }()
	to.Well()
	for {
		select {
		case r := <-l.records:
			to.Each(r, false)
		case err := <-l.fail:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// opened is a log, and a hub that reads it.
func opened(t *testing.T) (*log, *Hub) {
	t.Helper()
	l := newLog()
	h := New(slog.New(slog.DiscardHandler), l.read)
	t.Cleanup(h.Close)
	return l, h
}

func record(offset int, event string) *kgo.Record {
	r := &kgo.Record{Topic: schemas.TopicRawEvents, Offset: int64(offset), Key: []byte("u"), Timestamp: time.Now(), Value: fmt.Appendf(nil, `{"event":%q}`, event)}
	kafka.SetHeaders(r, &schemas.Headers{Source: "website", Type: schemas.TypeTrack, MessageID: fmt.Sprint("m", offset), Origin: schemas.OriginAPI})
	return r
}

func join(t *testing.T, h *Hub, wanted Wanted) *Tail {
	t.Helper()
	tail, err := h.Join(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return tail
}

// TestOneReader serves all tails: it begins with the first, and ends a while after the last.
func TestOneReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		h := New(slog.New(slog.DiscardHandler), l.read)
		if synctest.Wait(); len(l.begun) != 0 {
			t.Error("a reader has begun that nobody wants")
		}
		var all []*Tail
		for range most {
			all = append(all, join(t, h, Wanted{}))
		}
		if _, err := h.Join(t.Context(), Wanted{}); !errors.Is(err, ErrFull) {
			t.Errorf("one tail more: %v", err)
		}
		l.records <- record(0, "a")
		synctest.Wait()
		for _, one := range all {
			if news := one.Take(); len(news.Calls) != 1 || news.Counts != (Counts{Came: 1, Wanted: 1}) {
				t.Errorf("found %+v", news)
			}
			h.Leave(one)
		}
		virtual.Sleep(linger - time.Second)
		last := join(t, h, Wanted{})
		virtual.Sleep(2 * linger)
		if len(l.begun) != 1 || l.ended != 0 {
			t.Errorf("%d readers have begun and %d ended, want one that goes on", len(l.begun), l.ended)
		}
		h.Leave(last)
		virtual.Sleep(linger)
		if synctest.Wait(); l.ended != 1 {
			t.Error("the reader goes on, and nobody looks")
		}
		h.Leave(join(t, h, Wanted{}))
		h.Close()
		if len(l.begun) != 2 || l.ended != 2 {
			t.Errorf("%d readers have begun and %d ended, want 2", len(l.begun), l.ended)
		}
	})
}

// TestClose ends the tails that are open at once, and no other begins.
func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		h := New(slog.New(slog.DiscardHandler), l.read)
		tail := join(t, h, Wanted{})
		began := time.Now()
		h.Close()
		h.Close()
		select {
		case <-tail.Over():
		default:
			t.Error("a tail goes on")
		}
		h.Leave(tail)
		if _, err := h.Join(t.Context(), Wanted{}); !errors.Is(err, ErrClosed) || time.Since(began) != 0 || l.ended != 1 {
			t.Errorf("after %s there is another tail: %v", time.Since(began), err)
		}
	})
}

// TestACapForEachSecond: below it nothing is left out, whenever it is read, and above it what
// is left out is counted.
func TestACapForEachSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, h := opened(t)
		tail := join(t, h, Wanted{})
		begun := time.Now().Truncate(time.Second)
		offset := 0
		send := func(second, n int) {
			for range n {
				r := record(offset, "a")
				r.Timestamp = begun.Add(time.Duration(second) * time.Second)
				l.records <- r
				offset++
			}
			synctest.Wait()
		}
		for second := range 3 { // all at once, as after a standstill
			send(second, PerSecond)
		}
		if news := tail.Take(); len(news.Calls) != 3*PerSecond || news.Counts != (Counts{Came: 300, Wanted: 300}) {
			t.Errorf("%d were given, counted %+v", len(news.Calls), news.Counts)
		}
		send(3, 2_000)
		if news := tail.Take(); len(news.Calls) != PerSecond || news.Counts != (Counts{Came: 2_300, Wanted: 2_300, LeftOut: 1_900}) {
			t.Errorf("%d were given, counted %+v", len(news.Calls), news.Counts)
		}
	})
}

// TestASlowTail holds no more than it may, and counts the rest; others are not held up.
func TestASlowTail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, h := opened(t)
		slow, quick := join(t, h, Wanted{}), join(t, h, Wanted{})
		large := strings.Repeat("x", 20_000)
		taken := 0
		for i := range 1_000 {
			l.records <- record(i, large)
			synctest.Wait()
			taken += len(quick.Take().Calls)
			virtual.Sleep(20 * time.Millisecond)
		}
		if taken != 1_000 {
			t.Errorf("who is quick was given %d of 1,000", taken)
		}
		if slow.bytes > pendingBytes || h.bytes > recentBytes || len(h.recent) > mostRecent {
			t.Errorf("%d bytes wait for who is slow, and %d are kept for others", slow.bytes, h.bytes)
		}
		if news := slow.Take(); news.Came != 1_000 || news.Wanted-news.LeftOut != int64(len(news.Calls)) || len(news.Calls) == 0 {
			t.Errorf("%d were given, counted %+v", len(news.Calls), news.Counts)
		}
	})
}

// TestANewTailKnowsWhatCameLast, which is not counted.
func TestANewTailKnowsWhatCameLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, h := opened(t)
		join(t, h, Wanted{})
		if since := l.begun[0].Since; time.Since(since) != Before {
			t.Errorf("the reader begins at %s", since)
		}
		for i := range 30 {
			l.records <- record(i, "a")
			virtual.Sleep(time.Second)
		}
		l.records <- record(30, "b")
		synctest.Wait()
		news := join(t, h, Wanted{Event: "a"}).Take()
		if first := news.Calls[0].Offset; len(news.Calls) != 10 || first != 20 || news.Counts != (Counts{}) {
			t.Errorf("%d were given from %d, counted %+v", len(news.Calls), first, news.Counts)
		}
	})
}

// TestAReaderThatFails is said, and goes on where it was.
func TestAReaderThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, h := opened(t)
		tail := join(t, h, Wanted{})
		l.records <- record(7, "a")
		l.fail <- errors.New("broker unavailable")
		synctest.Wait()
		if news := tail.Take(); news.Problem == nil || news.Came != 1 {
			t.Errorf("found %+v", news)
		}
		virtual.Sleep(again)
		l.records <- record(7, "a")
		l.records <- record(8, "b")
		synctest.Wait()
		if next := l.begun[1].Next[0]; next != 8 {
			t.Errorf("it goes on at %d", next)
		}
		if news := tail.Take(); news.Problem != nil || news.Came != 2 || len(news.Calls) != 1 || news.Calls[0].Offset != 8 {
			t.Errorf("found %+v", news)
		}
	})
}

// TestACallKeepsNoFetch: nothing of it is in the memory of its record.
func TestACallKeepsNoFetch(t *testing.T) {
	t.Parallel()
	r := record(1, "Signed Up")
	c := NewCall(r)
	clear(r.Value)
	clear(r.Key)
	for _, h := range r.Headers {
		clear(h.Value)
	}
	if c.Event() != "Signed Up" || c.User != "u" || c.MessageID != "m1" || c.Source != "website" {
		t.Errorf("the call is %+v", c)
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	c := NewCall(record(1, `Say "hi" 🦦`))
	page := NewCall(&kgo.Record{Key: []byte("u2"), Value: []byte(`{"name":"Pricing","n":9007199254740993}`)})
	none := NewCall(&kgo.Record{Value: []byte("no call")})
	for name, test := range map[string]struct {
		wanted Wanted
		want   []*Call
	}{
		"all":                {Wanted{}, []*Call{c, page, none}},
		"a source":           {Wanted{Source: "website"}, []*Call{c}},
		"a type":             {Wanted{Type: schemas.TypeTrack}, []*Call{c}},
		"another type":       {Wanted{Type: schemas.TypePage}, nil},
		"an event":           {Wanted{Event: `Say "hi" 🦦`}, []*Call{c}},
		"a name":             {Wanted{Event: "Pricing"}, []*Call{page}},
		"a part of an event": {Wanted{Event: "Say"}, nil},
		"a user":             {Wanted{User: "u"}, []*Call{c}},
		"text of the event":  {Wanted{Text: `"hi" 🦦`}, []*Call{c}},
		"as it is stored":    {Wanted{Text: `\"hi\"`}, []*Call{c}},
		"a number":           {Wanted{Text: "9007199254740993"}, []*Call{page}},
		"of a messageId":     {Wanted{Text: "m1"}, []*Call{c}},
		"of a user":          {Wanted{Text: "u2"}, []*Call{page}},
		"what is no call":    {Wanted{Text: "no call"}, []*Call{none}},
		"both":               {Wanted{User: "u2", Text: "hi"}, nil},
	} {
		var got []*Call
		for _, one := range []*Call{c, page, none} {
			if test.wanted.Wants(one) {
				got = append(got, one)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %d calls, want %d", name, len(got), len(test.want))
		}
	}
}

// TestCountsAddUp, whatever comes and whenever it is taken: what a tail was given and what was
// left out is what it wanted, and each was given once, in order.
func TestCountsAddUp(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	synctest.Test(t, func(t *testing.T) {
		l, h := opened(t)
		wanted := Wanted{Event: "a"}
		tail := join(t, h, wanted)
		var came, want, given, last int64 = 0, 0, 0, -1
		for i := range 3_000 {
			name := []string{"a", "a", "a", "b"}[random.IntN(4)]
			l.records <- record(i, name)
			came++
			if name == "a" {
				want++
			}
			synctest.Wait()
			if random.IntN(50) == 0 || i == 2_999 {
				news := tail.Take()
				given += int64(len(news.Calls))
				for _, c := range news.Calls {
					if c.Offset <= last || c.Event() != "a" {
						t.Fatalf("seed %d: %s at %d was given after %d", seed, c.Event(), c.Offset, last)
					}
					last = c.Offset
				}
				if news.Counts != (Counts{came, want, want - given}) {
					t.Fatalf("seed %d: %d were given, counted %+v of %d and %d", seed, given, news.Counts, came, want)
				}
			}
			virtual.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
		}
		if given == want || given == 0 {
			t.Errorf("seed %d: of %d wanted calls %d were given", seed, want, given)
		}
	})
}
