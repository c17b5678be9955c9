package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/enginetest"
)

// shopper returns the profile of a user with so many calls in 90 days.
func shopper(tb testing.TB, c *engine.Catalogue, calls int) (p *engine.Profile, now time.Time) {
	tb.Helper()
	p = c.NewProfile()
	var call engine.Call
	for i := range calls {
		now = time.UnixMilli(start).Add(time.Duration(i+1) * 90 * 24 * time.Hour / time.Duration(calls+1))
		if err := engine.ParseCall(&call, enginetest.Visit(i*5, "user-4711", now), enginetest.VisitHeaders, now); err != nil {
			tb.Fatal(err)
		}
		c.Take(p, &call, now, nil)
	}
	return p, now
}

// TestRecordsAreSmall: a user's record is what a million of them cost.
func TestRecordsAreSmall(t *testing.T) {
	t.Parallel()
	c, err := engine.Compile(enginetest.Shop(20))
	if err != nil {
		t.Fatal(err)
	}
	for calls, most := range map[int]int{1: 200, 20: 700, 100: 1200} {
		p, _ := shopper(t, c, calls)
		size := len(p.Append(nil))
		t.Logf("%d audiences, %d leaves, %d calls: %d bytes", 20, len(c.Leaves()), calls, size)
		if size > most {
			t.Errorf("%d calls: %d bytes, expected at most %d", calls, size, most)
		}
	}
}

// BenchmarkTake is what a live call costs: with a profile in memory, and with one that is
// read and written.
func BenchmarkTake(b *testing.B) {
	for _, n := range []int{20, 200} {
		c, err := engine.Compile(enginetest.Shop(n))
		if err != nil {
			b.Fatal(err)
		}
		values := make([][]byte, 64)
		p, now := shopper(b, c, 40)
		for i := range values {
			values[i] = enginetest.Visit(i, "user-4711", now.Add(time.Duration(i)*time.Second))
		}
		var call engine.Call
		take := func(b *testing.B, p *engine.Profile, i int) {
			b.Helper()
			at := now.Add(time.Duration(i) * time.Second)
			if err := engine.ParseCall(&call, values[i%len(values)], enginetest.VisitHeaders, at); err != nil {
				b.Fatal(err)
			}
			call.At = at
			c.Take(p, &call, at, nil)
		}
		b.Run(fmt.Sprintf("audiences=%d/cached", n), func(b *testing.B) {
			b.ReportAllocs()
			user := p.Clone()
			i := 0
			for b.Loop() {
				take(b, user, i)
				i++
			}
		})
		b.Run(fmt.Sprintf("audiences=%d/clone+append", n), func(b *testing.B) {
			b.ReportAllocs()
			user := p.Clone()
			var record []byte
			i := 0
			for b.Loop() {
				user = user.Clone()
				take(b, user, i)
				record = user.Append(record[:0])
				i++
			}
			b.ReportMetric(float64(len(record)), "record-B")
		})
		b.Run(fmt.Sprintf("audiences=%d/decode+append", n), func(b *testing.B) {
			b.ReportAllocs()
			record := p.Append(nil)
			i := 0
			for b.Loop() {
				user, err := c.Decode(record)
				if err != nil {
					b.Fatal(err)
				}
				take(b, user, i)
				record = user.Append(make([]byte, 0, len(record)+64))
				i++
			}
		})
		b.Run(fmt.Sprintf("audiences=%d/concerns", n), func(b *testing.B) {
			b.ReportAllocs()
			other := enginetest.Visit(0, "user-4711", now)
			copy(other[len(`{"type":"track","event":"`):], "Other")
			for b.Loop() {
				if err := engine.ParseCall(&call, other, enginetest.VisitHeaders, now); err != nil {
					b.Fatal(err)
				}
				if c.Concerns(&call) {
					b.Fatal("it concerns nothing")
				}
			}
		})
	}
}
