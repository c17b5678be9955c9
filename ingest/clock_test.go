package ingest

import (
	"math/rand/v2"
	"testing"
)

func TestCorrect(t *testing.T) {
	const received = 1_000_000
	at := func(millis int64) stamp { return stamp{millis, true} }
	for name, c := range map[string]struct {
		stamps stamps
		want   int64
		ok     bool
	}{
		"nothing":                          {stamps{}, received, true},
		"sentAt alone says nothing":        {stamps{sentAt: at(7)}, received, true},
		"own alone is kept":                {stamps{own: at(7)}, 7, true},
		"own in the future is kept":        {stamps{own: at(2 * received)}, 2 * received, true},
		"clocks agree":                     {stamps{own: at(received - 300), sentAt: at(received)}, received - 300, true},
		"clock an hour ahead":              {stamps{own: at(received + 3_600_000 - 300), sentAt: at(received + 3_600_000)}, received - 300, true},
		"clock an hour behind":             {stamps{own: at(received - 3_600_000 - 300), sentAt: at(received - 3_600_000)}, received - 300, true},
		"sent before it happened":          {stamps{own: at(500), sentAt: at(200)}, received + 300, true},
		"a history, sent":                  {stamps{own: at(0), sentAt: at(received)}, 0, true},
		"more than a duration can hold":    {stamps{own: at(minInstant), sentAt: at(minInstant + 1)}, received - 1, true},
		"apart by more than all years":     {stamps{own: at(minInstant), sentAt: at(maxInstant)}, received, false},
		"apart by more, the other way":     {stamps{own: at(maxInstant), sentAt: at(minInstant)}, received, false},
		"the first instant there is":       {stamps{own: at(minInstant), sentAt: at(received)}, minInstant, true},
		"one before the first there is":    {stamps{own: at(minInstant), sentAt: at(received + 1)}, received, false},
		"the last instant there is, alone": {stamps{own: at(maxInstant)}, maxInstant, true},
	} {
		got, ok := c.stamps.correct(received)
		if got != c.want || ok != c.ok {
			t.Errorf("%s: got %d %v, want %d %v", name, got, ok, c.want, c.ok)
		}
	}
}

// TestCorrectTakesOutTheClockAlone is the property behind the rule: whatever the
// client's clock is off by, the result is the same.
func TestCorrectTakesOutTheClockAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		received := random.Int64N(maxInstant / 2)
		queued := random.Int64N(1_000_000)
		off := random.Int64N(maxInstant/2) - maxInstant/8
		sent := received + off
		got, ok := stamps{own: stamp{sent - queued, true}, sentAt: stamp{sent, true}}.correct(received)
		if want := received - queued; got != want || !ok {
			t.Fatalf("received %d, queued %d, clock off by %d: got %d %v, want %d", received, queued, off, got, ok, want)
		}
	}
}

func TestFirstStampThatCanBeRead(t *testing.T) {
	day, other := []byte(`"2026-11-21"`), []byte(`"2026-11-22"`)
	bad, null := []byte(`"x"`), []byte(`null`)
	millis := func(value []byte) stamp { m, _ := parseTime(value); return stamp{m, true} }
	for name, c := range map[string]struct {
		values     [][]byte
		want       stamp
		unreadable int
	}{
		"none":                {nil, stamp{}, 0},
		"absent":              {[][]byte{nil, {}}, stamp{}, 0},
		"null":                {[][]byte{null, nil}, stamp{}, 0},
		"the first":           {[][]byte{day, other}, millis(day), 0},
		"null, then one":      {[][]byte{null, other}, millis(other), 0},
		"unreadable, then":    {[][]byte{bad, other}, millis(other), 1},
		"unreadable":          {[][]byte{bad, nil}, stamp{}, 1},
		"unreadable, both":    {[][]byte{bad, bad}, stamp{}, 2},
		"the second is spare": {[][]byte{day, bad}, millis(day), 0},
	} {
		var r stampReader
		if got := r.first(c.values...); got != c.want || r.unreadable != c.unreadable {
			t.Errorf("%s: got %v with %d unreadable, want %v with %d", name, got, r.unreadable, c.want, c.unreadable)
		}
	}
}
