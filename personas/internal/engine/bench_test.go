package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
)

// shop is the definitions of a shop: of 20 audiences ten count events of the last days,
// four add up revenue, three look at a while ago, and three at traits; there are five
// computed traits. With n above 20 they come again with other events.
func shop(n int) engine.Definitions {
	var d engine.Definitions
	common := func(kind string, i int) definition.Common {
		return definition.Common{ID: fmt.Sprintf("%s_%d", kind, i), Enabled: true, History: definition.History{Full: true}}
	}
	event := func(i int, w definition.Window) definition.Event {
		return definition.Event{Type: definition.Track, Name: fmt.Sprintf("Event %d", i), Window: w}
	}
	within := func(days int) definition.Window {
		return definition.Window{Kind: definition.Within, Far: time.Duration(days) * 24 * time.Hour}
	}
	gte := func(f float64) definition.Test { return definition.Test{{Op: definition.Gte, Values: number(f)}} }
	for i := range n {
		did := &definition.Did{Take: definition.Count, Is: gte(float64(1 + i%3))}
		leaf := &definition.Leaf{Did: did}
		turn := i / 20 * 6
		switch i % 20 {
		case 10, 11, 12, 13:
			did.Event, did.Take, did.Of, did.Is = event(turn, within(30*(i%3+1))), definition.Sum, definition.Path{"total"}, gte(500)
		case 14, 15, 16:
			did.Event = event(turn+1, definition.Window{Kind: definition.Between, Far: 90 * 24 * time.Hour, Near: 30 * 24 * time.Hour})
		case 17, 18, 19:
			leaf = &definition.Leaf{Trait: definition.Path{fmt.Sprintf("trait_%d", i%3)}, Is: definition.Test{{Op: definition.Eq, Values: []definition.Value{{Kind: definition.Text, Text: "pro"}}}}}
		default:
			did.Event = event(turn+i%6, within(7+i%20*3))
		}
		cond := definition.Cond{Leaf: leaf}
		if i%5 == 1 {
			never := &definition.Leaf{Did: &definition.Did{Event: event(turn+(i+1)%6, within(14)), Take: definition.Count, Is: definition.Test{{Op: definition.Eq, Values: number(0)}}}}
			cond = definition.Cond{Any: []definition.Cond{cond, {Leaf: never}}}
		}
		d.Audiences = append(d.Audiences, engine.Audience{Audience: definition.Audience{Common: common("audience", i), When: cond}, Version: 1})
	}
	for i, t := range []definition.Trait{
		{Take: definition.Count, Event: event(0, within(30))},
		{Take: definition.Sum, Of: definition.Path{"total"}, Event: event(0, definition.Window{})},
		{Take: definition.MostFrequent, Of: definition.Path{"category"}, Event: event(1, definition.Window{})},
		{Take: definition.Unique, Of: definition.Path{"category"}, Event: event(1, within(90))},
		{Take: definition.Last, Of: definition.Path{"category"}, Event: event(2, definition.Window{})},
	} {
		t.Common = common("computed", i)
		d.Traits = append(d.Traits, engine.Trait{Trait: t, Version: 1})
	}
	return d
}

// visit returns a call of a browser library, of some 1,000 bytes.
func visit(i int, at time.Time) []byte {
	return fmt.Appendf(nil, `{"type":"track","event":"Event %d","userId":"user-4711","anonymousId":"8d3f4a52-7c19-4b6e-9a51-0f2c6d7e8b90",`+
		`"messageId":"ajs-next-1795223069458-a013c080-32c9-4278-bae2-95808ccc4edf","timestamp":"%s","context":{"library":{"name":"analytics.js","version":"2.11.1"},`+
		`"ip":"203.0.113.17","userAgent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36","locale":"en-US",`+
		`"page":{"path":"/checkout/done","referrer":"https://shop.example.com/cart","title":"Thank you — Order","url":"https://shop.example.com/checkout/done?step=4"}},`+
		`"integrations":{"All":true},"properties":{"orderId":"o-90210","total":%d.95,"category":"category %d","currency":"EUR","coupon":null,"gift":false,`+
		`"products":[{"productId":"p-1","name":"Kettle","price":49.95,"quantity":1},{"productId":"p-2","name":"Tea, loose","price":25,"quantity":4}]}}`,
		i%6, at.UTC().Format(schemas.TimeLayout), i%90, i%7)
}

var visitHeaders = &schemas.Headers{Type: schemas.TypeTrack, Source: "website", MessageID: "m", Origin: schemas.OriginAPI}

// shopper returns the profile of a user with so many calls in 90 days.
func shopper(tb testing.TB, c *engine.Catalogue, calls int) (p *engine.Profile, now time.Time) {
	tb.Helper()
	p = c.NewProfile()
	var call engine.Call
	for i := range calls {
		now = time.UnixMilli(start).Add(time.Duration(i+1) * 90 * 24 * time.Hour / time.Duration(calls+1))
		if err := engine.ParseCall(&call, visit(i*5, now), visitHeaders, now); err != nil {
			tb.Fatal(err)
		}
		c.Take(p, &call, now, nil)
	}
	return p, now
}

// TestRecordsAreSmall: a user's record is what a million of them cost.
func TestRecordsAreSmall(t *testing.T) {
	t.Parallel()
	c, err := engine.Compile(shop(20))
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
		c, err := engine.Compile(shop(n))
		if err != nil {
			b.Fatal(err)
		}
		values := make([][]byte, 64)
		p, now := shopper(b, c, 40)
		for i := range values {
			values[i] = visit(i, now.Add(time.Duration(i)*time.Second))
		}
		var call engine.Call
		take := func(b *testing.B, p *engine.Profile, i int) {
			b.Helper()
			at := now.Add(time.Duration(i) * time.Second)
			if err := engine.ParseCall(&call, values[i%len(values)], visitHeaders, at); err != nil {
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
			other := visit(0, now)
			copy(other[len(`{"type":"track","event":"`):], "Other")
			for b.Loop() {
				if err := engine.ParseCall(&call, other, visitHeaders, now); err != nil {
					b.Fatal(err)
				}
				if c.Concerns(&call) {
					b.Fatal("it concerns nothing")
				}
			}
		})
	}
}
