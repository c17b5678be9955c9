package personas

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// from is a call that came from another source.
func from(source string, rec *kgo.Record) *kgo.Record {
	h, _ := kafka.HeadersOf(rec) // it is one of ours
	h.Source = source
	rec.Headers = nil
	kafka.SetHeaders(rec, &h)
	return rec
}

func (b *bench) forget(request, user string) *kgo.Record {
	b.calls++
	return regulation.Order(request, time.Now(), user)
}

// notified are the sources whose destinations were told to delete a user, by request.
func (b *bench) notified(t *testing.T, user string) map[string][]string {
	t.Helper()
	by := make(map[string][]string)
	for _, rec := range b.all(t, schemas.TopicRawEvents) {
		h, err := kafka.HeadersOf(rec)
		if err != nil || h.Origin != schemas.OriginDeletion || h.Only != nil || string(rec.Key) != user {
			continue
		}
		request := regulation.Request(h.MessageID)
		by[request] = append(by[request], h.Source)
		slices.Sort(by[request])
	}
	return by
}

// TestADeletionIsToldWhereTheUserWasSeen, under any of their ids, where somebody listens, and
// by personas itself if it has told something of them; once, and no second time while
// nothing is known of the user.
func TestADeletionIsToldWhereTheUserWasSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Traits: []engine.Trait{counted()}})
		heard := func(_ *Config, set *Settings) { set.Listened = func(source string) bool { return source != "silent" } }
		b.begun(t, b.virtually, heard)
		stop := start(t, b.stage(t, b.virtually, heard))
		now := time.Now()
		b.send(t, b.order("u", "a"), from("silent", b.track("u", "Visit", now)), from("app", b.order("", "a")), b.track("v", "Visit", now))
		virtual.Sleep(10 * time.Second)
		b.send(t, b.forget("r1", "u"), b.forget("r1", "v"), b.forget("r1", "stranger"))
		virtual.Sleep(5 * time.Second)
		stop()
		start(t, b.stage(t, b.virtually, heard))
		b.send(t, b.forget("r1", "u"), b.forget("r2", "u"), b.forget("r2", "a"))
		virtual.Sleep(5 * time.Second)
		b.send(t, from("app", b.track("u", "Visit", time.Now())))
		virtual.Sleep(time.Second)
		b.send(t, b.forget("r3", "u"))
		virtual.Sleep(5 * time.Second)
		for user, want := range map[string]map[string][]string{
			"u": {"r1": {"app", "personas", "website"}, "r3": {"app"}}, "v": {"r1": {"website"}}, "stranger": {}, "a": {},
		} {
			if diff := cmp.Diff(want, b.notified(t, user)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", user, diff)
			}
		}
	})
}
