package router

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestAnEventThatIsAheadOfTheWorkspaceIsRouted: ingest takes calls of a new source as
// soon as it has heard of it, which the router need not have.
func TestAnEventThatIsAheadOfTheWorkspaceIsRouted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, r, _ := virtualStage(t)
		b.live.Store(workspace.NewSnapshot(nil, nil))
		start(t, r)
		b.send(t, event("u", 1, schemas.Headers{Source: "web"}))
		virtual.Sleep(sourceWait - time.Second)
		b.live.Store(snapshot())
		b.ReadAll(t, schemas.DeliverTopic("crm"), 1)
		b.ReadAll(t, schemas.TopicDeadLetters, 0)
	})
}

// TestAnEventAheadOfTheWorkspaceIsRoutedWithOthers: it may come while a transaction is
// filled with events of sources that are known.
func TestAnEventAheadOfTheWorkspaceIsRoutedWithOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t))
	source := func(id string) workspace.Source {
		return workspace.Source{ID: id, Enabled: true, WriteKeyHash: workspace.HashWriteKey(id)}
	}
	destination := func(id string, of ...string) workspace.Destination {
		return workspace.Destination{
			ID: id, Type: workspace.TypeWebhooks, Enabled: true, Sources: of,
			Endpoints: []workspace.Endpoint{{URL: "https://example.com"}},
		}
	}
	crm, lake := destination("crm", "web", "app"), destination("lake", "web")
	b.live.Store(workspace.NewSnapshot([]workspace.Source{source("web")}, []workspace.Destination{crm, lake}))
	b.send(t, event("u", 1, schemas.Headers{Source: "web"}), event("u", 2, schemas.Headers{Source: "app"}))
	r := b.router(t, func(cfg *Config, _ *Settings) { cfg.TransactionTimeout = 5 * time.Minute })
	r.stage.sourceWait = time.Hour
	start(t, r)
	testkit.Until(t, func() bool {
		extents, err := b.topics.Extents(t.Context(), schemas.DeliverTopic("lake"))
		written := int64(0)
		for _, e := range extents[schemas.DeliverTopic("lake")] {
			written += e.End
		}
		return err == nil && written > 0
	}, "the first event to be written")
	b.live.Store(workspace.NewSnapshot([]workspace.Source{source("web"), source("app")}, []workspace.Destination{crm, lake}))
	b.ReadAll(t, schemas.DeliverTopic("crm"), 2)
	b.ReadAll(t, schemas.TopicDeadLetters, 0)
}

// TestAnEventOfAnUnknownSourceGoesAside, where it can be redriven from.
func TestAnEventOfAnUnknownSourceGoesAside(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	b.send(t, event("u", 1, schemas.Headers{Source: "gone"}))
	r := b.router(t)
	r.stage.sourceWait = time.Millisecond
	start(t, r)
	h, err := kafka.HeadersOf(b.ReadAll(t, schemas.TopicDeadLetters, 1)[0])
	if err != nil || h.Reason != schemas.ReasonSourceUnknown || h.Source != "gone" {
		t.Errorf("dead letter %+v, %v", h, err)
	}
	counts(t, r, map[string]float64{" dead": 1})
}
