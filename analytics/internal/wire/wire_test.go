//go:build go1.26

package wire

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/analytics/internal/encode"
	"github.com/anabranch/anabranch/analytics/internal/queue"
)

// What the server reads as a time stamp, and what it does not (protocol, 10).
func TestReadable(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-11-21T08:30:00Z": true, "2026-11-21T08:30:00.123456789Z": true, "2026-11-21t08:30:00z": true, "2026-11-21 08:30:00": true,
		"2026-11-21T08:30:00+0100": true, "2026-11-21T08:30:00.5-01:30": true, "2026-11-21T08:30Z": true, "2026-11-21T08:30": true,
		"2026-11-21": true, "0000-01-01": true, "9999-12-31T23:59:60Z": true, "2024-02-29": true, "2012-12-02T00:30:08+0000": true,

		"2026-02-30": false, "2025-02-29": false, "2026-13-01": false, "2026-00-10": false, "2026-11-21T24:00:00Z": false, "2026-11-21T08:60:00Z": false,
		"2026-11-21T08:30:61Z": false, "2026-11-21T08:30:00.Z": false, "2026-11-21T08:30:00.1234567890Z": false, "2026-11-21T08:30:00,5Z": false,
		"2026-11-21T8:30:00Z": false, "2026-11-21T08:30:00+1": false, "2026-11-21Z": false, "2026-11-21T": false, "2026-11-21T08:30:00Z ": false,
		"Sat, 21 Nov 2026 08:30:00 GMT": false, "1795223069": false, "now": false, "20261121": false, "2026-11-21T08:30:00+24:00": false,
		"2026-11-21T08:30:00Z" + strings.Repeat("0", 1<<20): false,
	} {
		if got := readable(text); got != want {
			t.Errorf("%.40s: %t, want %t", text, got, want)
		}
	}
}

// A refusal costs nothing like what is refused, wherever in a call that is.
func TestRefusingIsCheap(t *testing.T) {
	text := strings.Repeat("x", 16<<20)
	for name, c := range map[string]Call{
		"userId":      {UserID: text},
		"anonymousId": {UserID: "u", AnonymousID: text},
		"messageId":   {UserID: "u", MessageID: text},
		"timestamp":   {UserID: "u", Timestamp: text},
		"sentAt":      {UserID: "u", SentAt: text},
		"event":       {UserID: "u", Texts: [2]Text{{Name: "event", Value: text}}},
		"properties":  {UserID: "u", Maps: "properties", Own: map[string]any{"x": text}},
		"context":     {UserID: "u", Context: map[string]any{"x": []any{text}}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.Encode()
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 1<<18 || len(err.Error()) > 200 {
			t.Errorf("%s: %v, %d bytes", name, err, took)
		}
	}
}

func TestRead(t *testing.T) {
	m, err := Read([]byte(`{"type":"track","messageId":"m","userId":"u","anonymousId":"a"}`))
	if err != nil || m.Type != "track" || m.ID != "m" || m.User != "u" || m.Cost <= len(m.JSON) || m.At.IsZero() {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := Read(make([]byte, MaxBytes+1)); !errors.Is(err, encode.ErrTooLarge) {
		t.Error(err)
	}
	if _, err := Read([]byte(`{"messageId":"m","userId":"u"}`)); err == nil || err.Error() != "no type" {
		t.Error(err)
	}
}

// heap is what is in use.
func heap() int {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// The cost of messages is what they take in a queue, whether they are small or large,
// of many users or of one.
func TestCostIsMemory(t *testing.T) {
	for _, c := range []struct{ messages, size, users int }{{50_000, 1, 50_000}, {50_000, 1, 1}, {10_000, 1000, 10_000}, {1000, 20_000, 10}} {
		text := strings.Repeat("x", c.size)
		var q queue.Queue
		before, cost := heap(), 0
		for i := range c.messages {
			call := Call{Kind: "track", UserID: fmt.Sprint("user-", i%c.users), Maps: "properties", Own: map[string]any{"x": text}}
			m, err := call.Encode()
			if err != nil {
				t.Fatal(err)
			}
			q.Put(m)
			cost += m.Cost
		}
		used := heap() - before
		if ratio := float64(cost) / float64(used); ratio < 0.9 || ratio > 1.4 {
			t.Errorf("%+v: a cost of %d, %d bytes used: %.2f", c, cost, used, ratio)
		}
		runtime.KeepAlive(&q)
	}
}
