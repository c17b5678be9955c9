package terminal

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestProgress is work of 130 seconds that tells how far it is twice a second.
func TestProgress(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		live  bool
		every time.Duration
		end   func(*Progress)
		lines int
		first string
		last  string
	}{
		"a terminal":       {live: true, every: time.Minute, end: (*Progress).Leave, lines: 130, first: "\r\x1b[K1s\r", last: "K2m10s\n"},
		"a result instead": {live: true, end: (*Progress).Clear, lines: 130, first: "\r\x1b[K1s\r", last: "K2m10s\r\x1b[K"},
		"a log":            {every: time.Minute, end: (*Progress).Leave, lines: 2, first: "1m0s\n", last: "2m0s\n"},
		"nowhere":          {end: (*Progress).Leave},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			p := &Progress{Out: &out, Live: tt.live, Every: tt.every}
			begun := time.Unix(1, 0)
			lines := 0
			for at := time.Duration(0); at <= 130*time.Second; at += 500 * time.Millisecond {
				p.Show(begun.Add(at), func() string { lines++; return fmt.Sprint(at) })
			}
			tt.end(p)
			if got := out.String(); lines != tt.lines || !strings.HasPrefix(got, tt.first) || !strings.HasSuffix(got, tt.last) {
				t.Errorf("%d lines, want %d, from %q to %q:\n%q", lines, tt.lines, tt.first, tt.last, got)
			}
		})
	}
}

// TestNoLineIsNotEnded: work that is over at once leaves no empty line.
func TestNoLineIsNotEnded(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := &Progress{Out: &out, Live: true}
	p.Begin(time.Unix(1, 0))
	p.Show(time.Unix(1, 5), func() string { return "early" })
	p.Leave()
	p.Clear()
	if out.Len() > 0 {
		t.Errorf("printed %q", out.String())
	}
}
