//go:build go1.26

package analytics_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/anabranch/anabranch/analytics"
)

// heap is what is in use.
func heap() int {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// Nothing is kept of what an id was cut out of.
func TestIDsHoldNothingElse(t *testing.T) {
	client, _ := dial(t, analytics.WithFlushAt(2500))
	before := heap()
	for i := range 200 {
		page := strings.Repeat("x", 1<<20) + fmt.Sprintf("user-%03d message-%03d", i, i)
		message := &analytics.Track{UserId: page[1<<20:][:8], MessageId: page[1<<20:][9:], Event: "e"}
		if err := client.Track(message); err != nil {
			t.Fatal(err)
		}
	}
	if grown := heap() - before; grown > 10<<20 {
		t.Errorf("200 messages hold %d MiB", grown>>20)
	}
	runtime.KeepAlive(client)
}

// A buffer that is used again changes nothing of what was queued.
func TestIDsOfABufferThatIsUsedAgain(t *testing.T) {
	client, server := dial(t)
	buffer := []byte("user-1message-1")
	text := unsafe.String(&buffer[0], len(buffer)) // as some frameworks make it
	first := &analytics.Track{UserId: text[:6], MessageId: text[6:], Event: "e"}
	if err := client.Track(first); err != nil {
		t.Fatal(err)
	}
	copy(buffer, "user-2message-2")
	if err := client.Track(first); err != nil {
		t.Fatal(err)
	}
	outcomes := client.Stats().Queued
	closed(t, client)
	got := server.messages()
	if outcomes != 2 || got[0]["userId"] != "user-1" || got[0]["messageId"] != "message-1" || got[1]["userId"] != "user-2" {
		t.Errorf("%d, %v", outcomes, got)
	}
	if s := client.Stats(); s.Sent != 2 || s.Queued != 0 {
		t.Errorf("%+v", s)
	}
}
