package router

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestTooLargeForATopic: what one topic refuses must not keep the transaction
// from ever ending, nor cost another destination the event.
func TestTooLargeForATopic(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limited   []string
		reference bool
	}{
		"kept whole in dead-letters":         {[]string{schemas.DeliverTopic("crm")}, false},
		"too large for dead-letters as well": {[]string{schemas.DeliverTopic("crm"), schemas.TopicDeadLetters}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testkit.Fake(t))
			for _, topic := range c.limited {
				b.Limit(t, topic, 1000)
			}
			large := event("u", 1, schemas.Headers{Source: "web"})
			large.Value = fmt.Appendf(nil, `{"type":"track","pad":%q}`, incompressible(1500))
			b.send(t, large, event("u", 2, schemas.Headers{Source: "web"}))
			start(t, b.router(t))

			b.ReadAll(t, schemas.DeliverTopic("crm"), 1)
			b.ReadAll(t, schemas.DeliverTopic("lake"), 2)
			rec := b.ReadAll(t, schemas.TopicDeadLetters, 1)[0]
			h, err := kafka.HeadersOf(rec)
			if err != nil {
				t.Fatal(err)
			}
			if h.Reason != schemas.ReasonRecordTooLarge || h.Destination != "crm" || h.From.Topic != schemas.TopicRawEvents {
				t.Errorf("dead letter: reason %q, destination %q, from %+v", h.Reason, h.Destination, h.From)
			}
			if h.Reference != c.reference || (len(rec.Value) == 0) != c.reference {
				t.Errorf("dead letter: reference %v with %d bytes, want %v", h.Reference, len(rec.Value), c.reference)
			}
		})
	}
}

// incompressible returns text that stays large in a compressed batch.
func incompressible(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(rand.Text())
	}
	return b.String()
}

// TestOnlyWhatIsTooLargeIsBuried: brokers refuse batches, and most of what is in them
// is not too large. The events that are cost their destination dead letters, and the
// others a few transactions in all.
func TestOnlyWhatIsTooLargeIsBuried(t *testing.T) {
	t.Parallel()
	const limit, small, large = 8 << 10, 300, 3
	crm := schemas.DeliverTopic("crm")
	for name, refuse := range map[string]func(*testing.T, *bench){
		"MESSAGE_TOO_LARGE":     func(t *testing.T, b *bench) { t.Helper(); b.Limit(t, crm, limit) },
		"RECORD_LIST_TOO_LARGE": func(_ *testing.T, b *bench) { b.LimitLists(crm, int32(topicConfig.DeliverPartitions), limit) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testkit.Fake(t, kfake.NumBrokers(1)))
			refuse(t, b)
			var sent []*kgo.Record
			for i := range small {
				sent = append(sent, event(strconv.Itoa(i), i, schemas.Headers{Source: "web"}))
				sent[i].Value = fmt.Appendf(nil, `{"pad":%q}`, incompressible(1000))
			}
			for i := range large {
				sent = append(sent, event("u", i, schemas.Headers{Source: "web"}))
				sent[small+i].Value = fmt.Appendf(nil, `{"pad":%q}`, incompressible(limit))
			}
			b.send(t, sent...)
			r := b.router(t)
			start(t, r)
			b.ReadAll(t, crm, small)
			b.ReadAll(t, schemas.DeliverTopic("lake"), small+large)
			for _, rec := range b.ReadAll(t, schemas.TopicDeadLetters, large) {
				if h, err := kafka.HeadersOf(rec); err != nil || h.Reason != schemas.ReasonRecordTooLarge || h.Destination != "crm" || len(rec.Value) < limit {
					t.Errorf("dead letter of %d bytes: reason %q, destination %q, %v", len(rec.Value), h.Reason, h.Destination, err)
				}
			}
			// One that finds the limit out, one that learns how low it is and which
			// events are above it, and one for those that it could not try.
			if got := testutil.ToFloat64(r.stage.metrics.aborted); got > 6 {
				t.Errorf("%v transactions were aborted, want a few", got)
			}
		})
	}
}
