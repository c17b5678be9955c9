package webhooksink

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// BenchmarkSink is everything but the HTTP request: an event is produced, fetched,
// dispatched, "delivered" in ten milliseconds, and committed. With 64 attempts in
// flight 6,400 a second is the most that one destination can do.
func BenchmarkSink(b *testing.B) {
	for _, destinations := range []int{1, 50} {
		b.Run(fmt.Sprintf("destinations=%d", destinations), func(b *testing.B) {
			const partitions = 6
			named := make([]workspace.Destination, destinations)
			for i := range named {
				named[i] = destination("d" + strconv.Itoa(i))
			}
			p := newPlant(b, testkit.Fake(b), partitions, named...)
			records := make([]*kgo.Record, b.N)
			for i := range records {
				records[i] = event(named[i%destinations].ID, "user-"+strconv.Itoa(i%10_000), strconv.Itoa(i), int32(i/destinations%partitions))
			}
			var count atomic.Int64
			done := make(chan struct{})
			r := p.start(func(ctx context.Context, _ *workspace.Destination, _ string) outcome.Outcome {
				waiting.Sleep(ctx, 10*time.Millisecond)
				if count.Add(1) == int64(b.N) {
					close(done)
				}
				return outcome.Outcome{Verdict: outcome.Delivered}
			}).ready()
			b.ReportAllocs()
			b.ResetTimer()
			go p.write(records...)
			<-done
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			r.end()
		})
	}
}
