package pipeline

import (
	"strings"
	"testing"
)

const page = `# HELP anabranch_ingest_events_total Events by result.
# TYPE anabranch_ingest_events_total counter
anabranch_ingest_events_total{result="accepted"} 3
anabranch_ingest_events_total{result="rejected"} 9
anabranch_router_events_total{destination="a-1",result="routed"} 2
anabranch_router_events_total{destination="a-2",result="routed"} 2
anabranch_router_events_total{destination="a-1",result="filtered"} 1
anabranch_router_events_total{destination="a-2",result="dead"} 1
anabranch_webhook_sink_deliveries_total{destination="a-1",result="delivered"} 2
anabranch_webhook_sink_deliveries_total{destination="a-2",result="delivered"} 1
anabranch_webhook_sink_deliveries_total{destination="a-2",result="retried"} 5
anabranch_webhook_sink_deliveries_total{destination="a-2",result="dead"} 1
go_goroutines 42
`

func TestParseSumsOverDestinations(t *testing.T) {
	got, err := parse(strings.NewReader(page))
	want := counts{accepted: 3, routed: 4, filtered: 1, deadInRouter: 1, delivered: 3, dead: 1}
	if err != nil || got != want {
		t.Errorf("parse: %+v, %v, expected %+v", got, err, want)
	}
	if !got.drained() {
		t.Error("not drained, although each call is accounted for twice")
	}
}

func TestParseRefusesAValueThatIsNone(t *testing.T) {
	if _, err := parse(strings.NewReader(`anabranch_ingest_events_total{result="accepted"} many`)); err == nil {
		t.Error("no error, so a drain would see zero")
	}
}

func TestDrained(t *testing.T) {
	for name, c := range map[string]struct {
		counts counts
		want   bool
	}{
		"nothing yet":          {counts{}, true},
		"not routed":           {counts{accepted: 1}, false},
		"routed to one of two": {counts{accepted: 1, routed: 1, delivered: 1}, false},
		"not delivered":        {counts{accepted: 1, routed: 2, delivered: 1}, false},
		"delivered":            {counts{accepted: 1, routed: 2, delivered: 2}, true},
		"filtered":             {counts{accepted: 1, filtered: 2}, true},
		"given up":             {counts{accepted: 1, routed: 2, delivered: 1, dead: 1}, true},
		"dead before routing":  {counts{accepted: 1, deadInRouter: 2}, true},
	} {
		if got := c.counts.drained(); got != c.want {
			t.Errorf("%s: drained is %t", name, got)
		}
	}
}
