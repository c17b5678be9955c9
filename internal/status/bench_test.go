package status

import (
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// BenchmarkTenThousandDestinations has to stay far below the ten seconds of a
// command; something waits for each third destination.
func BenchmarkTenThousandDestinations(b *testing.B) {
	const n = 10_000
	destinations := make([]workspace.Destination, n)
	topics := make([]string, n)
	var records []*kgo.Record
	for i := range destinations {
		destinations[i] = destination("d"+strconv.Itoa(i), "http://a.test/")
		topics[i] = schemas.DeliverTopic(destinations[i].ID)
		if i%3 == 0 {
			records = append(records, &kgo.Record{Topic: topics[i]})
		}
	}
	basin := newBasin(b, destinations...)
	basin.ensure(topics...)
	if err := basin.cl.ProduceSync(b.Context(), records...).FirstErr(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if r := basin.report(usualLimits()); len(r.Incomplete) > 0 {
			b.Fatalf("not read to the end: %d topics", len(r.Incomplete))
		}
	}
}
