package ask

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// BenchmarkPreview computes two new definitions from raw-events. Calls a second are to be
// more than 55,000 on two cores: ten million in three minutes.
func BenchmarkPreview(b *testing.B) {
	const calls, users = 500_000, 50_000
	bench := newBench(b, testkit.Brokers(b), engine.Definitions{})
	begun := time.Now().Add(-time.Hour)
	for from := 0; from < calls; from += 5000 {
		records := make([]*kgo.Record, 5000)
		for i := range records {
			n := from + i
			user, id, at := fmt.Sprintf("user-%d", n*7919%users), fmt.Sprintf("m-%d", n), begun.Add(time.Duration(n)*time.Millisecond)
			value := fmt.Sprintf(`{"type":"track","messageId":%q,"userId":%q,"event":"Order Completed","properties":{"total":%d,"category":"hats","url":"https://shop.example.com/orders/%d"},"timestamp":%q,"context":{"library":{"name":"analytics.js","version":"2.1.0"}}}`,
				id, user, n%100, n, at.UTC().Format(schemas.TimeLayout))
			records[i] = &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte(user), Value: []byte(value), Timestamp: at}
			kafka.SetHeaders(records[i], &schemas.Headers{Source: "website", Type: schemas.TypeTrack, MessageID: id, Origin: schemas.OriginAPI})
		}
		bench.send(b, records...)
	}
	next := Workspace{defined: engine.Definitions{Audiences: []engine.Audience{
		audience(b, `{"id":"buyers","when":{"did":"Order Completed","times":{"gte":5},"within":"7d"}}`),
		audience(b, `{"id":"spenders","when":{"did":"Order Completed","take":"sum","of":"total","is":{"gte":500}}}`),
	}}}
	for b.Loop() {
		p, err := Changes(b.Context(), &bench.Log, next, "")
		if err != nil || p.Definitions[0].Enter == 0 {
			b.Fatal(p, err)
		}
	}
	b.ReportMetric(calls*float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
