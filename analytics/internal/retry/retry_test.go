package retry

import (
	"net/http"
	"testing"
	"time"
)

func TestDelay(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		-1: First, 0: First, 1: First, 2: 2 * First, 3: 4 * First, 7: 64 * First, 8: Longest, 9: Longest, 1 << 40: Longest,
	} {
		if got := Delay(failures, 0); got != want/2 {
			t.Errorf("after %d failures at least %v, want %v", failures, got, want/2)
		}
		if got := Delay(failures, 0.999999); got >= want || got < want*99/100 {
			t.Errorf("after %d failures at most %v, want %v", failures, got, want)
		}
	}
}

func TestObey(t *testing.T) {
	for _, c := range []struct {
		asked, own time.Duration
		dice       float64
		want       time.Duration
	}{
		{0, time.Second, 0.9, time.Second},
		{2 * time.Second, time.Second, 0, 2 * time.Second},
		{2 * time.Second, time.Second, 0.5, 2100 * time.Millisecond},
		{time.Second, 8 * time.Second, 0.5, 8050 * time.Millisecond},
	} {
		if got := Obey(c.asked, c.own, c.dice); got != c.want {
			t.Errorf("asked for %v, own %v: %v, want %v", c.asked, c.own, got, c.want)
		}
	}
}

func TestAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0},
		{"0", "", 0},
		{"2", "", 2 * time.Second},
		{" 120 ", "", 2 * time.Minute},
		{"86400", "", LongestAsked},
		{"99999999999999999999", "", LongestAsked},
		{"-1", "", 0},
		{"1.5", "", 0},
		{"soon", "", 0},
		{"Sat, 21 Nov 2026 08:00:30 GMT", "", 30 * time.Second},
		{"Saturday, 21-Nov-26 08:00:30 GMT", "", 30 * time.Second},
		{"Sat Nov 21 08:00:30 2026", "", 30 * time.Second},
		{"Sat, 21 Nov 2026 07:00:00 GMT", "", 0},
		{"Mon, 21 Nov 2039 07:00:00 GMT", "", LongestAsked},
		// The server's clock is wrong by years: its own Date says what it means.
		{"Fri, 21 Nov 2014 08:00:30 GMT", "Fri, 21 Nov 2014 08:00:00 GMT", 30 * time.Second},
		{"Sat, 21 Nov 2026 08:00:30 GMT", "nonsense", 30 * time.Second},
	} {
		header := http.Header{"Retry-After": {c.value}, "Date": {c.date}}
		if got := After(header, now); got != c.want {
			t.Errorf("Retry-After %q with Date %q: %v, want %v", c.value, c.date, got, c.want)
		}
	}
	if got := After(http.Header{}, now); got != 0 {
		t.Errorf("without one: %v", got)
	}
}

// FuzzAfter shows that no header makes a pause that is negative or without end.
func FuzzAfter(f *testing.F) {
	f.Add("120", "")
	f.Add("Sat, 21 Nov 2026 08:00:30 GMT", "Sat, 21 Nov 2026 08:00:00 GMT")
	f.Fuzz(func(t *testing.T, value, date string) {
		got := After(http.Header{"Retry-After": {value}, "Date": {date}}, time.Unix(1_800_000_000, 0))
		if got < 0 || got > LongestAsked {
			t.Errorf("%q, %q: %v", value, date, got)
		}
	})
}
