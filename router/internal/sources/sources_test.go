package sources

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/virtual"
)

// wait is how long the tests wait for a source.
const wait = 5 * time.Second

// known is a workspace with the sources web and app, and old, which is switched off.
func known() *workspace.Snapshot {
	source := func(id string, enabled bool) workspace.Source {
		return workspace.Source{ID: id, Enabled: enabled, WriteKeyHash: workspace.HashWriteKey(id)}
	}
	return workspace.NewSnapshot([]workspace.Source{source("web", true), source("app", true), source("old", false)}, nil)
}

// from is a fetch of events, one for each source.
func from(ids ...string) kgo.Fetches {
	fetches := fetched(len(ids))
	n := 0
	fetches.EachRecord(func(rec *kgo.Record) {
		kafka.SetHeaders(rec, &schemas.Headers{Source: ids[n], Type: schemas.TypeTrack})
		n++
	})
	return fetches
}

// fetched is a poll of so many records.
func fetched(n int) kgo.Fetches {
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Offset: int64(i)}
	}
	return kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: "raw-events", Partitions: []kgo.FetchPartition{{Records: records}}}}}}
}

func empty() *workspace.Live { return workspace.NewLive(workspace.NewSnapshot(nil, nil)) }

// TestWaitsForASource that ingest knows already, for as long as it takes.
func TestWaitsForASource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, began := empty(), time.Now()
		for after, s := range map[time.Duration]*workspace.Snapshot{time.Second: workspace.NewSnapshot(nil, nil), 3 * time.Second: known()} {
			time.AfterFunc(after, func() { live.Store(s) })
		}
		var s Sources
		if !s.Await(t.Context(), live, from("web", "app"), wait) || time.Since(began) != 3*time.Second {
			t.Errorf("waited %v, want 3s: until the workspace has both", time.Since(began))
		}
		if !s.Await(t.Context(), live, from("web", "old", "personas", ""), wait) || time.Since(began) != 3*time.Second {
			t.Errorf("waited %v for sources that are there, disabled or not", time.Since(began)-3*time.Second)
		}
	})
}

// TestASourceThatIsGoneCostsOneWait, and so do a thousand of them.
func TestASourceThatIsGoneCostsOneWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, began := workspace.NewLive(known()), time.Now()
		var s Sources
		for _, id := range []string{"gone", "gone", "never"} {
			if !s.Await(t.Context(), live, from("web", id), wait) || time.Since(began) != wait {
				t.Errorf("%s: waited %v in all, want %v", id, time.Since(began), wait)
			}
		}
		virtual.Sleep(rest)
		if s.Await(t.Context(), live, from("gone"), wait); time.Since(began) != 2*wait+rest {
			t.Errorf("%v since the begin, want another wait a minute later", time.Since(began))
		}
	})
}

// TestAStopEndsTheWait and leaves the events for the next router.
func TestAStopEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if s := new(Sources); s.Await(ctx, empty(), from("web"), wait) {
			t.Error("events are routed by a workspace that does not have their source")
		}
	})
}
