package replay

import (
	"testing"
	"time"
)

// BenchmarkPlan reads a range and judges it for two destinations, without a journal.
func BenchmarkPlan(b *testing.B) {
	const n = 100_000
	bench := newBench(b, "crm", "lake")
	bench.fill(b, n)
	o := &Operator{Kafka: bench.Options(), Topics: bench.topics}
	run, err := o.Prepare(b.Context(), Request{Rate: 1}, bench.live.Load(), time.Now())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		p := planner{run: run, terms: terms{judge: listeners{}, workspace: bench.live.Load(), today: run.CreatedAt}}
		from := shelves{o.Kafka, o.Topics, bench.live.Load}.source(run, func() error { return nil })
		f, err := p.plan(b.Context(), from, o.Kafka, o.Topics.Client)
		if err != nil || f.Total() != 2*n {
			b.Fatalf("%+v, %v", f, err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
