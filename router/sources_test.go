package router

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// from is a fetch of events, one for each source.
func from(ids ...string) kgo.Fetches {
	fetches := fetched(0, 0, 0, int64(len(ids)), int64(len(ids)))
	n := 0
	fetches.EachRecord(func(rec *kgo.Record) {
		kafka.SetHeaders(rec, &schemas.Headers{Source: ids[n], Type: schemas.TypeTrack})
		n++
	})
	return fetches
}

func empty() *workspace.Live { return workspace.NewLive(workspace.NewSnapshot(nil, nil)) }

// TestWaitsForASource that ingest knows already, for as long as it takes.
func TestWaitsForASource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, began := empty(), time.Now()
		for after, s := range map[time.Duration]*workspace.Snapshot{time.Second: workspace.NewSnapshot(nil, nil), 3 * time.Second: snapshot()} {
			time.AfterFunc(after, func() { live.Store(s) })
		}
		var s sources
		if !s.await(t.Context(), live, from("web", "app"), sourceWait) || time.Since(began) != 3*time.Second {
			t.Errorf("waited %v, want 3s: until the workspace has both", time.Since(began))
		}
		if !s.await(t.Context(), live, from("web", "old", ""), sourceWait) || time.Since(began) != 3*time.Second {
			t.Errorf("waited %v for sources that are there, disabled or not", time.Since(began)-3*time.Second)
		}
	})
}

// TestASourceThatIsGoneCostsOneWait, and so do a thousand of them.
func TestASourceThatIsGoneCostsOneWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, began := workspace.NewLive(snapshot()), time.Now()
		var s sources
		for _, id := range []string{"gone", "gone", "never"} {
			if !s.await(t.Context(), live, from("web", id), sourceWait) || time.Since(began) != sourceWait {
				t.Errorf("%s: waited %v in all, want %v", id, time.Since(began), sourceWait)
			}
		}
		time.Sleep(sourceRest)
		if s.await(t.Context(), live, from("gone"), sourceWait); time.Since(began) != 2*sourceWait+sourceRest {
			t.Errorf("%v since the begin, want another wait a minute later", time.Since(began))
		}
	})
}

// TestAStopEndsTheWait and leaves the events for the next router.
func TestAStopEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if s := new(sources); s.await(ctx, empty(), from("web"), sourceWait) {
			t.Error("events are routed by a workspace that does not have their source")
		}
	})
}

// TestAnEventThatIsAheadOfTheWorkspaceIsRouted: ingest takes calls of a new source as
// soon as it has heard of it, which the router need not have.
func TestAnEventThatIsAheadOfTheWorkspaceIsRouted(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t))
	b.live.Store(workspace.NewSnapshot(nil, nil))
	r := b.router(t)
	r.sourceWait = time.Hour
	start(t, r)
	testkit.Until(t, func() bool { return r.Ready() == nil }, "the router to join")
	b.send(t, event("u", 1, schemas.Headers{Source: "web"}))
	testkit.Until(t, func() bool {
		r.lookOnce(t.Context())
		records, _ := r.backlog.sum(time.Now())
		return records > 0
	}, "the router to see the event")
	b.live.Store(snapshot())
	b.routedOnce(t, 1)
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
	r := b.router(t)
	r.sourceWait, r.cfg.TransactionTimeout = time.Hour, 5*time.Minute
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
	r.sources.vainly = time.Now() // as after a wait
	start(t, r)
	h, err := kafka.HeadersOf(b.ReadAll(t, schemas.TopicDeadLetters, 1)[0])
	if err != nil || h.Reason != schemas.ReasonSourceUnknown || h.Source != "gone" {
		t.Errorf("dead letter %+v, %v", h, err)
	}
	counts(t, r, map[string]float64{" dead": 1})
}
