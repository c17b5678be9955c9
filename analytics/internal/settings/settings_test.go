//go:build go1.26

package settings

import (
	"net/http"
	"testing"
	"time"
)

func TestCount(t *testing.T) {
	for _, c := range []struct{ size, flushAt, want int }{
		{20, 20, 20}, {5, 20, 5}, {20, 5, 5}, {5, 7, 5}, {40, 20, 40}, {20, 40, 40}, {0, 20, 2500}, {20, -1, 2500}, {0, 30, 30}, {10_000, 20, 2500},
	} {
		if got := Count(c.size, c.flushAt, 20, 2500); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestPeriod(t *testing.T) {
	const usual = 5 * time.Second
	for _, c := range []struct{ interval, flushAfter, want time.Duration }{
		{usual, usual, usual}, {time.Second, usual, time.Second}, {usual, time.Minute, time.Minute}, {time.Hour, time.Minute, time.Minute}, {0, -1, usual},
	} {
		if got := Period(c.interval, c.flushAfter, usual); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// Clients that nobody closes share their connections; the last one that is closed gives
// them back.
func TestSharedTransport(t *testing.T) {
	first, release := HTTPClient(http.Client{})
	second, releaseSecond := HTTPClient(http.Client{Timeout: time.Second})
	if first.Transport != second.Transport || second.Timeout != time.Second {
		t.Error("two transports")
	}
	release()
	release() // counts once
	if shared.clients != 1 || shared.transport == nil {
		t.Errorf("%d clients", shared.clients)
	}
	releaseSecond()
	if shared.clients != 0 || shared.transport != nil {
		t.Errorf("%d clients are left", shared.clients)
	}
	own := &http.Transport{}
	if client, _ := HTTPClient(http.Client{Transport: own}); client.Transport != own || shared.clients != 0 {
		t.Error("the user's own transport is replaced")
	}
}
