package timestamp

import (
	"math/rand/v2"
	"testing"
)

func TestCorrect(t *testing.T) {
	const received = 1_000_000
	at := func(millis int64) Stamp { return Stamp{millis, true} }
	for name, c := range map[string]struct {
		stamps Stamps
		want   int64
		ok     bool
	}{
		"nothing":                          {Stamps{}, received, true},
		"sentAt alone says nothing":        {Stamps{SentAt: at(7)}, received, true},
		"own alone is kept":                {Stamps{Own: at(7)}, 7, true},
		"own in the future is kept":        {Stamps{Own: at(2 * received)}, 2 * received, true},
		"clocks agree":                     {Stamps{Own: at(received - 300), SentAt: at(received)}, received - 300, true},
		"clock an hour ahead":              {Stamps{Own: at(received + 3_600_000 - 300), SentAt: at(received + 3_600_000)}, received - 300, true},
		"clock an hour behind":             {Stamps{Own: at(received - 3_600_000 - 300), SentAt: at(received - 3_600_000)}, received - 300, true},
		"sent before it happened":          {Stamps{Own: at(500), SentAt: at(200)}, received + 300, true},
		"a history, sent":                  {Stamps{Own: at(0), SentAt: at(received)}, 0, true},
		"more than a duration can hold":    {Stamps{Own: at(minInstant), SentAt: at(minInstant + 1)}, received - 1, true},
		"apart by more than all years":     {Stamps{Own: at(minInstant), SentAt: at(maxInstant)}, received, false},
		"apart by more, the other way":     {Stamps{Own: at(maxInstant), SentAt: at(minInstant)}, received, false},
		"the first instant there is":       {Stamps{Own: at(minInstant), SentAt: at(received)}, minInstant, true},
		"one before the first there is":    {Stamps{Own: at(minInstant), SentAt: at(received + 1)}, received, false},
		"the last instant there is, alone": {Stamps{Own: at(maxInstant)}, maxInstant, true},
	} {
		got, ok := c.stamps.Correct(received)
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
		got, ok := Stamps{Own: Stamp{sent - queued, true}, SentAt: Stamp{sent, true}}.Correct(received)
		if want := received - queued; got != want || !ok {
			t.Fatalf("received %d, queued %d, clock off by %d: got %d %v, want %d", received, queued, off, got, ok, want)
		}
	}
}
