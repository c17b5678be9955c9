package pipeline

import (
	"context"
	"io"
	"net/http"

	"github.com/anabranch/anabranch/test/scrape"
)

// counts are events by what became of them, for each destination that they have.
type counts struct {
	accepted         float64 // calls
	routed, filtered float64
	delivered, dead  float64
	deadInRouter     float64
}

// drained: every call that was accepted has been decided on for each of its
// destinations, and what was routed has been delivered or given up.
func (c *counts) drained() bool {
	return c.routed+c.filtered+c.deadInRouter == webhooks*c.accepted && c.delivered+c.dead == c.routed
}

// counts asks the product's metrics.
func (p *Pipeline) counts(ctx context.Context) (counts, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.process.Admin+"/metrics", http.NoBody)
	if err != nil {
		return counts{}, err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return counts{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end or failed
	return parse(resp.Body)
}

// parse sums the series of a metrics page over their destinations.
func parse(text io.Reader) (counts, error) {
	page, err := scrape.Read(text)
	of := func(name, result string) float64 {
		sum, _ := page.Sum(name, "result", result)
		return sum
	}
	const router, sink = "anabranch_router_events_total", "anabranch_webhook_sink_deliveries_total"
	return counts{
		accepted: of("anabranch_ingest_events_total", "accepted"),
		routed:   of(router, "routed"), filtered: of(router, "filtered"), deadInRouter: of(router, "dead"),
		delivered: of(sink, "delivered"), dead: of(sink, "dead"),
	}, err
}
