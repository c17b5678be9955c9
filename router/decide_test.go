package router

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// snapshot has a source that two destinations listen to, one that a disabled
// destination alone listens to, and a disabled one.
func snapshot() *workspace.Snapshot {
	hooks := func(id string, enabled bool, sources ...string) workspace.Destination {
		return workspace.Destination{
			ID: id, Type: workspace.TypeWebhooks, Enabled: enabled, Sources: sources,
			Endpoints: []workspace.Endpoint{{URL: "https://example.com/" + id}},
		}
	}
	news := hooks("news", true, "past")
	news.Historical = workspace.HistoricalRefuse
	return workspace.NewSnapshot(
		[]workspace.Source{
			{ID: "past", Enabled: true, WriteKeyHash: workspace.HashWriteKey("p")},
			{ID: "web", Enabled: true, WriteKeyHash: workspace.HashWriteKey("w")},
			{ID: "app", Enabled: true, WriteKeyHash: workspace.HashWriteKey("a")},
			{ID: "old", Enabled: false, WriteKeyHash: workspace.HashWriteKey("o")},
		},
		[]workspace.Destination{hooks("crm", true, "web", "old"), hooks("lake", true, "web"), hooks("off", false, "web", "app"), hooks("mail", true, "personas"), hooks("push", true, "personas"), hooks("sms", true, "personas"), news},
	)
}

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestDecide(t *testing.T) {
	t.Parallel()
	compare := cmp.AllowUnexported(decision{})
	for name, c := range map[string]struct {
		headers schemas.Headers
		topics  topics
		want    []decision
	}{
		"every enabled destination of the source": {
			headers: schemas.Headers{Source: "web"},
			want:    []decision{{destination: "crm", result: routed}, {destination: "lake", result: routed}},
		},
		"filtered by the map": {
			headers: schemas.Headers{Source: "web", Integrations: []byte(`{"All":false}`)},
			want:    []decision{{destination: "crm", result: filtered, why: "All"}, {destination: "lake", result: filtered, why: "All"}},
		},
		"a disabled destination does not listen": {
			headers: schemas.Headers{Source: "app"},
			want:    []decision{{result: unconnected}},
		},
		"what is told of audiences, to whom it is connected": {
			headers: schemas.Headers{Source: "personas", Origin: schemas.OriginPersonas},
			want:    []decision{{destination: "mail", result: routed}, {destination: "push", result: routed}, {destination: "sms", result: routed}},
		},
		"of one that says whom it is for, to those alone": {
			headers: schemas.Headers{Source: "personas", Origin: schemas.OriginPersonas, Only: []string{"crm", "mail", "sms"}},
			topics:  topics{unavailable: map[string]string{"sms": "gone", "push": "gone"}},
			want: []decision{
				{destination: "mail", result: routed},
				{destination: "push", result: filtered, why: "only"},
				{destination: "sms", result: dead, reason: schemas.ReasonTopicUnavailable, detail: "gone"},
			},
		},
		"an order to forget a user, to nobody": {
			headers: schemas.Headers{Source: "personas", Type: schemas.TypeDelete, Origin: schemas.OriginDeletion, Only: []string{"mail"}},
			want:    []decision{{destination: "mail", result: filtered, why: "only"}, {destination: "push", result: filtered, why: "only"}, {destination: "sms", result: filtered, why: "only"}},
		},
		"of one that was sent again": {
			headers: schemas.Headers{Source: "personas", Origin: schemas.OriginReplay, Only: []string{"gone"}},
			want:    []decision{{destination: "mail", result: filtered, why: "only"}, {destination: "push", result: filtered, why: "only"}, {destination: "sms", result: filtered, why: "only"}},
		},
		"a call of another source is for all, whatever it says": {
			headers: schemas.Headers{Source: "web", Origin: schemas.OriginAPI, Only: []string{"crm"}},
			want:    []decision{{destination: "crm", result: routed}, {destination: "lake", result: routed}},
		},
		"an imported call is for those that the import names": {
			headers: schemas.Headers{Version: 2, Source: "web", Origin: schemas.OriginAPI, Only: []string{"crm"}},
			want:    []decision{{destination: "crm", result: routed}, {destination: "lake", result: filtered, why: "only"}},
		},
		"or for nobody": {
			headers: schemas.Headers{Version: 2, Source: "web", Origin: schemas.OriginAPI, Only: []string{}},
			want:    []decision{{destination: "crm", result: filtered, why: "only"}, {destination: "lake", result: filtered, why: "only"}},
		},
		"of yesterday, to one that refuses what is older": {
			headers: schemas.Headers{Source: "past", Received: noon, Happened: noon.Add(-24 * time.Hour)},
			want:    []decision{{destination: "news", result: routed}},
		},
		"of the day before": {
			headers: schemas.Headers{Source: "past", Received: noon, Happened: noon.Add(-24*time.Hour - time.Millisecond)},
			want:    []decision{{destination: "news", result: filtered, why: "historical"}},
		},
		"of a thousand years ago, to one that accepts it": {
			headers: schemas.Headers{Source: "web", Received: noon, Happened: noon.AddDate(-1000, 0, 0)},
			want:    []decision{{destination: "crm", result: routed}, {destination: "lake", result: routed}},
		},
		"a source disabled since":    {headers: schemas.Headers{Source: "old"}, want: []decision{{result: unconnected}}},
		"a source that is not there": {headers: schemas.Headers{Source: "gone"}, want: []decision{{result: dead, reason: schemas.ReasonSourceUnknown, detail: "source gone is not in the workspace"}}},
		"no source at all is poison": {want: []decision{{result: dead, reason: schemas.ReasonRecordInvalid, detail: "header source is missing"}}},
		"a missing topic costs itself": {
			headers: schemas.Headers{Source: "web"},
			topics:  topics{unavailable: map[string]string{"crm": "gone"}},
			want: []decision{
				{destination: "crm", result: dead, reason: schemas.ReasonTopicUnavailable, detail: "gone"},
				{destination: "lake", result: routed},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := range c.want {
				if c.want[i].result == routed {
					c.want[i].topic = schemas.DeliverTopic(c.want[i].destination)
				}
			}
			if diff := cmp.Diff(c.want, new(filter).decide(nil, &c.headers, snapshot(), c.topics), compare); diff != "" {
				t.Errorf("decide (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecideBuriesAnUnreadableMapOnce(t *testing.T) {
	t.Parallel()
	got := new(filter).decide(nil, &schemas.Headers{Source: "web", Integrations: []byte(`{"All"`)}, snapshot(), topics{})
	if len(got) != 1 || got[0].result != dead || got[0].reason != schemas.ReasonRecordInvalid || got[0].detail == "" {
		t.Errorf("decide = %+v, want one dead letter that says why, not one per destination", got)
	}
}

func BenchmarkDecide(b *testing.B) {
	s, h := snapshot(), schemas.Headers{Source: "web", Integrations: []byte(`{"All":false,"Webhooks":true}`)}
	var f filter
	var into []decision
	b.ReportAllocs()
	for b.Loop() {
		into = f.decide(into[:0], &h, s, topics{})
	}
	if len(into) != 2 || into[0].result != routed {
		b.Fatalf("decide = %+v", into)
	}
}

// TestWhomACallIsForTravelsNoFurther than the router, which has decided on it.
func TestWhomACallIsForTravelsNoFurther(t *testing.T) {
	t.Parallel()
	taken := time.UnixMilli(1795223069775).UTC()
	for _, h := range []schemas.Headers{
		{Source: "personas", MessageID: "m", Only: []string{"mail"}},
		{Source: "personas", MessageID: "m", Only: []string{"mail"}, Received: taken},
		{Source: "personas", MessageID: "m"},
		{Source: "personas", MessageID: "m", Happened: noon, Received: taken, Version: 2, Only: []string{}},
	} {
		rec := &kgo.Record{Timestamp: taken}
		kafka.SetHeaders(rec, &h)
		got, err := kafka.HeadersOf(&kgo.Record{Headers: onward(rec, &h)})
		want := schemas.Headers{Source: "personas", MessageID: "m", Received: taken}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v, (-want +got):\n%s", err, diff)
		}
	}
}
