package webhooksink

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

const run = "20261123-024501-7f3a"

// replayed is a record as a replay writes it.
func replayed(id, key, messageID string, partition int32) *kgo.Record {
	r := event(id, key, messageID, partition)
	r.Topic = schemas.ReplayTopic(id)
	kafka.SetHeaders(r, &schemas.Headers{
		Source: "website", Type: schemas.TypeTrack, MessageID: messageID, Origin: schemas.OriginReplay, Run: run,
		Received: time.Now().Add(-72 * time.Hour),
	})
	return r
}

func (p *plant) replay(id, key string, messageIDs ...string) {
	p.t.Helper()
	var records []*kgo.Record
	for _, messageID := range messageIDs {
		records = append(records, replayed(id, key, messageID, 0))
	}
	p.write(records...)
}

// TestATopicOfReplaysIsFound within seconds of its creation, and what is on it is
// delivered in the order of each user.
func TestATopicOfReplaysIsFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 2, destination("crm"), destination("other"))
		l := newLedger(time.Millisecond)
		r := p.start(l.attempt).ready()
		p.ensure(schemas.ReplayTopic("crm"))
		began := time.Now()
		names := ids("replayed", 50)
		p.write(replays(names, 5, 2)...)
		testkit.Until(t, func() bool { return len(l.all()) == len(names) }, "the events to be delivered")
		if took := time.Since(began); took > 2*replaysEvery {
			t.Errorf("a replay began after %s", took)
		}
		if got := r.metric("replayed_total", "crm"); got != float64(len(names)) {
			t.Errorf("replayed_total is %v, expected %d", got, len(names))
		}
		r.end()
		l.once(t, names)
		l.inOrder(t, names, 5)
	})
}

// replays are records as a replay writes them, of so many users on so many partitions.
func replays(names []string, users, partitions int) []*kgo.Record {
	records := make([]*kgo.Record, len(names))
	for i, name := range names {
		user := i % users
		records[i] = replayed("crm", fmt.Sprint("user-", user), name, int32(user%partitions))
	}
	return records
}

// inOrder fails the test unless those of each user were delivered as they were sent first.
func (l *ledger) inOrder(t *testing.T, names []string, users int) {
	t.Helper()
	last := make(map[int]int)
	for _, name := range slices.Compact(l.all()) {
		i := slices.Index(names, name)
		if i < 0 {
			continue
		}
		if user := i % users; i < last[user] {
			t.Errorf("%s was delivered behind %s", name, names[last[user]])
		} else {
			last[user] = i
		}
	}
}

// TestReplaysOnAnyBroker: live events and a replay, whose transactions leave gaps, side by
// side at two sinks, of which one is stopped in the middle.
func TestReplaysOnAnyBroker(t *testing.T) {
	const n, partitions = 300, 2
	p := newPlant(t, testkit.Brokers(t), partitions, destination("crm"))
	l := newLedger(10 * time.Millisecond)
	names := ids("replayed", n)
	first := p.start(l.attempt).ready()
	p.ensure(schemas.ReplayTopic("crm"))
	records := replays(names, 20, partitions)
	p.write(spread(n, partitions)...)
	p.write(records...)
	reach := func(count int) {
		testkit.Until(t, func() bool { return distinct(l.all()) >= count }, "more events to be delivered")
	}
	reach(n + n/10)
	second := p.start(l.attempt).ready()
	reach(n + n/4)
	first.end()
	reach(2 * n)
	second.end()
	l.once(t, append(ids("e", n), names...))
	l.inOrder(t, names, 20)
	p.deadLetters(0)
}

// TestADestinationThatIsDownPausesItsReplay alone: nothing of it goes to retry topics but
// what showed that the destination is down, and it goes on by itself, with what a kill in
// between left.
func TestADestinationThatIsDownPausesItsReplay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"), destination("other"))
		p.ensure(schemas.ReplayTopic("crm"), schemas.ReplayTopic("other"))
		l := newLedger(time.Millisecond)
		var down atomic.Bool
		down.Store(true)
		receiver := func(ctx context.Context, dest *workspace.Destination, messageID string) outcome.Outcome {
			if dest.ID == "crm" && down.Load() {
				return outcome.Outcome{Verdict: outcome.Withheld, Reason: schemas.ReasonNetwork, Until: time.Now().Add(20 * time.Second)}
			}
			return l.attempt(ctx, dest, messageID)
		}
		r := p.start(receiver).ready()
		crm, other := ids("crm", 200), ids("other", 200)
		p.replay("crm", "user", crm...)
		p.replay("other", "user", other...)
		testkit.Until(t, func() bool { return len(l.all()) == len(other) }, "the other replay to end")
		virtual.Sleep(10 * time.Minute)
		if got := r.metric("replay_lag_records", "crm"); got != float64(len(crm)) {
			t.Errorf("replay_lag_records is %v, expected %d", got, len(crm))
		}
		if age := r.metric("oldest_replay_seconds", "crm"); age < 599 || age > 700 {
			t.Errorf("oldest_replay_seconds is %v, expected ten minutes", age)
		}
		r.kill()
		r = p.start(receiver).ready()
		virtual.Sleep(time.Minute)
		down.Store(false)
		testkit.Until(t, func() bool { return len(l.all()) == len(crm)+len(other) }, "the replay to go on")
		r.end()
		l.once(t, append(crm, other...))
		for _, topic := range []string{"webhook-retry.5s", schemas.TopicDeadLetters} {
			p.cluster.ReadAll(t, topic, 0)
		}
	})
}

// TestAReplayedEventThatFails is retried and given up like any other, and every record of
// it says which replay sent it.
func TestAReplayedEventThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		p.ensure(schemas.ReplayTopic("crm"))
		l := newLedger(time.Millisecond)
		l.answer = func(_, _ string, attempt int) outcome.Outcome {
			if attempt == 1 {
				return failed(schemas.ReasonStatus5xx)
			}
			return outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonStatus4xx, Detail: "status 410"}
		}
		r := p.start(l.attempt).ready()
		p.replay("crm", "user", "m1")
		h := p.deadLetters(1)[0]
		r.end()
		if h.Origin != schemas.OriginReplay || h.Run != run || h.Attempt != 2 || h.Reason != schemas.ReasonStatus4xx || h.Destination != "crm" {
			t.Errorf("dead letter %+v", h)
		}
		retries := p.cluster.ReadAll(t, "webhook-retry.5s", 1)
		if h := headersOf(t, retries[0]); h.Origin != schemas.OriginReplay || h.Run != run {
			t.Errorf("retry %+v", h)
		}
	})
}
