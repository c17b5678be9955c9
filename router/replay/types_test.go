package replay

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// TestOnlyWebhooksAreSentPastEvents: the sink, which reads the topics of replays, has no
// other destinations.
func TestOnlyWebhooksAreSentPastEvents(t *testing.T) {
	t.Parallel()
	ws := workspace.NewSnapshot(nil, []workspace.Destination{
		{ID: "crm", Type: workspace.TypeWebhooks, Enabled: true}, {ID: "warehouse", Type: workspace.TypeTopic, Enabled: true}, {ID: "cold", Type: workspace.TypeArchive, Enabled: true},
	})
	if all, err := meant(new(Choice), ws); err != nil || !slices.Equal(all, []string{"crm"}) {
		t.Errorf("%v, %v", all, err)
	}
	const want = "--destination=warehouse: it is of type topic: expected one with webhooks, which alone can be sent past events"
	if _, err := meant(&Choice{Destination: "warehouse"}, ws); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// heard is a rule that keeps whom it was asked about.
type heard struct{ only [][]string }

func (r *heard) Judge(_ *journal.Call, h *schemas.Headers, _ *workspace.Snapshot) {
	r.only = append(r.only, h.Only)
}

// TestWhomACallIsNarrowedTo: an import says for its own day who gets its calls, and a
// definition for always.
func TestWhomACallIsNarrowedTo(t *testing.T) {
	t.Parallel()
	rule := new(heard)
	set := terms{judge: rule, deleted: func(*kgo.Record) bool { return false }}
	for _, h := range []*schemas.Headers{
		{Version: 2, Source: "web", Type: schemas.TypeTrack, MessageID: "i", Only: []string{}, Happened: time.Unix(1, 0)},
		{Source: workspace.SourcePersonas, Type: schemas.TypeIdentify, MessageID: "p", Origin: schemas.OriginPersonas, Only: []string{"crm"}},
	} {
		rec := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte("u"), Value: []byte(`{}`)}
		kafka.SetHeaders(rec, h)
		c := new(call)
		if set.look(c, &Choice{Source: h.Source}, rec); c.reason != Sent {
			t.Errorf("%s: left out as %q", h.MessageID, c.reason)
		}
	}
	if diff := cmp.Diff([][]string{nil, {"crm"}}, rule.only); diff != "" {
		t.Errorf("narrowed to (-want +got):\n%s", diff)
	}
}

// TestThePastIsRefused by a destination that has no use for it: imported calls by when they
// happened, and others by when they were received.
func TestThePastIsRefused(t *testing.T) {
	t.Parallel()
	today := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	ws := workspace.NewSnapshot(
		[]workspace.Source{{ID: "web", Enabled: true, WriteKeyHash: workspace.HashWriteKey("w")}},
		[]workspace.Destination{{ID: "mail", Type: workspace.TypeWebhooks, Enabled: true, Sources: []string{"web"}, Historical: workspace.HistoricalRefuse}},
	)
	set := terms{judge: listeners{}, workspace: ws, deleted: func(*kgo.Record) bool { return false }, today: today}
	for name, c := range map[string]struct {
		happened, received time.Duration // before today
		want               Reason
	}{
		"imported today, of last year": {happened: 365 * 24 * time.Hour, received: time.Hour, want: Historical},
		"imported, of today":           {happened: 2 * time.Hour, received: time.Hour, want: Sent},
		"received two days ago":        {received: 48 * time.Hour, want: Historical},
		"received today":               {received: 23 * time.Hour, want: Sent},
	} {
		h := schemas.Headers{Source: "web", Type: schemas.TypeTrack, MessageID: "m", Origin: schemas.OriginAPI, Received: today.Add(-c.received)}
		if c.happened > 0 {
			h.Happened = today.Add(-c.happened)
		}
		rec := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte("u"), Value: []byte(`{}`), Timestamp: h.Received}
		kafka.SetHeaders(rec, &h)
		e := new(call)
		if set.look(e, new(Choice), rec); set.verdict(e, "mail") != c.want {
			t.Errorf("%s: %q, want %q", name, set.verdict(e, "mail"), c.want)
		}
	}
}
