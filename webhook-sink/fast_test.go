package webhooksink

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/internal/config"
)

func TestFetchWait(t *testing.T) {
	t.Parallel()
	for topics, want := range map[int]int64{1: 50, 7: 50, 25: 50, 56: 112, 125: 250, 1000: 250} {
		if got := fetchWait(topics).Milliseconds(); got != want {
			t.Errorf("of %d topics a fetch waits %d ms, want %d", topics, got, want)
		}
	}
}

// TestAReceiverThatAnswersAtOnceIsKeptBusy: whenever its queue has come down to where
// its topic is fetched again, what is left lasts until something comes.
func TestAReceiverThatAnswersAtOnceIsKeptBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n, partitions, service = 30_000, 6, 2 * time.Millisecond
		p := newPlant(t, testkit.Virtual(t), partitions, destination("crm"))
		records := make([]*kgo.Record, n)
		note := strings.Repeat("x", 900)
		for i, id := range ids("e", n) {
			records[i] = event("crm", fmt.Sprint("user-", i%5000), id, int32(i%partitions))
			records[i].Value = fmt.Appendf(nil, `{"type":"track","messageId":%q,"userId":"u","event":"Tested","timestamp":"2026-01-01T00:00:00.000Z","properties":{"note":%q}}`, id, note)
		}
		p.write(records...)
		l := newLedger(service)
		r := p.start(l.attempt)
		testkit.Until(t, func() bool { return len(l.all()) > 1000 }, "the first events to be delivered")
		began, before := time.Now(), len(l.all())
		testkit.Until(t, func() bool { return len(l.all()) == n }, "all events to be delivered")
		took, ideal := time.Since(began), time.Duration((n-before)/config.Default().MaxInFlight)*service
		if took > ideal*3/2 {
			t.Errorf("it took %s, and %s without a pause", took, ideal)
		}
		t.Logf("%s, and %s without a pause", took, ideal)
		r.end()
	})
}
