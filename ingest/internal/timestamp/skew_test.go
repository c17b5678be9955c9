package timestamp

import (
	"testing"
	"time"
)

func TestSkew(t *testing.T) {
	const (
		hour = int64(time.Hour / time.Millisecond)
		most = int64(MaxSkew / time.Millisecond)
	)
	for _, c := range []struct {
		sentAt []Stamp
		want   Skew
	}{
		{nil, Skew{}},
		{[]Stamp{{}}, Skew{}},
		{[]Stamp{{Millis: 0, Given: false}}, Skew{}},
		{[]Stamp{{most, true}, {-most, true}, {0, true}}, Skew{}},
		{[]Stamp{{most + 1, true}}, Skew{1, MaxSkew + time.Millisecond}},
		{[]Stamp{{-most - 1, true}}, Skew{1, -MaxSkew - time.Millisecond}},
		{[]Stamp{{hour - 1, true}}, Skew{1, time.Hour - time.Millisecond}}, // local time sent as UTC
		{[]Stamp{{0, true}, {2 * hour, true}, {-3 * hour, true}}, Skew{2, 2 * time.Hour}},
		{[]Stamp{{minInstant - maxInstant, true}}, Skew{1, -time.Duration(maxMillis) * time.Millisecond}},
		{[]Stamp{{maxInstant - minInstant, true}}, Skew{1, time.Duration(maxMillis) * time.Millisecond}},
	} {
		var got Skew
		for _, stamp := range c.sentAt {
			got.Note(stamp, 0)
		}
		if got != c.want {
			t.Errorf("%v: got %+v, want %+v", c.sentAt, got, c.want)
		}
	}
}
