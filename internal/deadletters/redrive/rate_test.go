package redrive

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestRate in virtual time: as many events a second as asked for, spread evenly.
func TestRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n, rate = 200, 40
		p := newPlant(t, testkit.Virtual(t), n)
		set := p.settings()
		set.Rate = rate
		began := time.Now()
		p.run(set)
		took := time.Since(began)
		if want := n * time.Second / rate; took < want-200*time.Millisecond || took > want+200*time.Millisecond {
			t.Errorf("%d events at %d/s took %s, want about %s", n, rate, took, want)
		}
		each := make(map[time.Duration]int)
		for _, r := range p.delivered(n, n) {
			each[r.Timestamp.Sub(began).Truncate(250*time.Millisecond)]++
		}
		for at, count := range each {
			if most := rate/4 + 2*batchSize(rate); count > most {
				t.Errorf("%d events within 250ms at %s, want at most %d", count, at, most)
			}
		}
	})
}

// TestProgress in virtual time: a line every five seconds, on a terminal a line
// in place every second.
func TestProgress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		terminal bool
		lines    int
		want     string
	}{
		"log":      {false, 2, "redriven 51/110, 10/s, 6s left\n"},
		"terminal": {true, 10, "\r\x1b[Kredriven 11/110, 11/s, 10s left"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlant(t, testkit.Virtual(t), 110)
				set := p.settings()
				set.Rate, set.Terminal = 10, c.terminal
				p.run(set)
				text := p.err.String()
				if got := strings.Count(text, "redriven"); got != c.lines {
					t.Errorf("%d lines of progress in 11 s, want %d:\n%q", got, c.lines, text)
				}
				expect(t, text, c.want)
			})
		})
	}
}
