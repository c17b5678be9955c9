package pipeline

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
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
func parse(page io.Reader) (counts, error) {
	var c counts
	lines := bufio.NewScanner(page)
	for lines.Scan() {
		series, text, _ := strings.Cut(lines.Text(), " ")
		sum := c.of(series)
		if sum == nil {
			continue
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return c, fmt.Errorf("read metrics: %s: %w", series, err)
		}
		*sum += value
	}
	return c, lines.Err()
}

// of returns the sum that a series belongs to; nil for none.
func (c *counts) of(series string) *float64 {
	name, labels, _ := strings.Cut(series, "{")
	switch {
	case name == "anabranch_ingest_events_total" && strings.Contains(labels, `result="accepted"`):
		return &c.accepted
	case name == "anabranch_router_events_total" && strings.Contains(labels, `result="routed"`):
		return &c.routed
	case name == "anabranch_router_events_total" && strings.Contains(labels, `result="filtered"`):
		return &c.filtered
	case name == "anabranch_router_events_total" && strings.Contains(labels, `result="dead"`):
		return &c.deadInRouter
	case name == "anabranch_webhook_sink_deliveries_total" && strings.Contains(labels, `result="delivered"`):
		return &c.delivered
	case name == "anabranch_webhook_sink_deliveries_total" && strings.Contains(labels, `result="dead"`):
		return &c.dead
	}
	return nil
}
