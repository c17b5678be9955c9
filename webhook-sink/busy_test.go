package webhooksink

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// busyBacklog is far more of one user than a destination may have in memory, and
// others between and behind it on the same partition.
func busyBacklog(busy, others int) (all []*kgo.Record, waiting, other []string) {
	large := func(key, id string) *kgo.Record {
		r := event("crm", key, id, 0)
		r.Value = fmt.Appendf(nil, `{"type":"track","messageId":%q,"userId":%q,"event":"Tested","timestamp":"2026-01-01T00:00:00.000Z","properties":{"note":%q}}`, id, key, strings.Repeat("x", 16<<10))
		return r
	}
	waiting, other = ids("busy", busy), ids("other", others)
	for i, id := range waiting {
		all = append(all, large("service-account", id))
		if n := len(all) - i - 1; n < others && i*others >= n*busy {
			all = append(all, large(other[n], other[n]))
		}
	}
	for n := len(all) - busy; n < others; n++ {
		all = append(all, large(other[n], other[n]))
	}
	return all, waiting, other
}

func only(all []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(id string) bool { return !strings.HasPrefix(id, prefix) })
}

// TestABusyUserWaitsOnTheBrokers: what one user has beyond what its receiver takes
// one at a time is read again from the brokers, in order, each event once, by whoever
// has the partition; everybody else's events on it pass by.
func TestABusyUserWaitsOnTheBrokers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		records, waiting, others := busyBacklog(1000, 100)
		p.write(records...)
		l := newLedger(200 * time.Millisecond)
		r := p.start(l.attempt, static("one"))
		testkit.Until(t, func() bool { return len(only(l.all(), "other")) == len(others) }, "the others' events to be delivered")
		if n := len(only(l.all(), "busy")); n > 50 {
			t.Errorf("the others' events waited for %d of the busy user's", n)
		}
		if keys, events := r.metric("busy_keys", "crm"), r.metric("busy_key_events", "crm"); keys != 1 || events < 800 {
			t.Errorf("metrics tell of %v busy keys with %v events", keys, events)
		}
		for range 3 { // stopped in order, and begun again
			virtual.Sleep(30 * time.Second)
			r.end()
			r = p.start(l.attempt, static("one"))
		}
		virtual.Sleep(2 * time.Minute) // a hundred seconds' worth is left
		testkit.Until(t, func() bool { return len(l.all()) >= len(records) }, "all events to be delivered")
		virtual.Sleep(2 * time.Second) // for the commit
		if keys, events := r.metric("busy_keys", "crm"), r.metric("busy_key_events", "crm"); keys != 0 || events != 0 {
			t.Errorf("metrics tell of %v busy keys with %v events when all is delivered", keys, events)
		}
		r.end()
		l.once(t, append(slices.Clone(waiting), others...))
		if got := only(l.all(), "busy"); !slices.IsSorted(got) {
			t.Error("the busy user's events were delivered out of order")
		}
		if got := p.committed(0); got != int64(len(records)) {
			t.Errorf("committed is %d, want %d", got, len(records))
		}
	})
}

// TestAKillLosesNothingOfABusyUser: what was delivered since the last commit comes
// again, and in order.
func TestAKillLosesNothingOfABusyUser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		records, _, _ := busyBacklog(1000, 300)
		p.write(records...)
		l := newLedger(100 * time.Millisecond)
		for kills := range 6 {
			r := p.start(l.attempt, static("one"))
			before := len(l.all())
			testkit.Until(t, func() bool { return len(l.all()) > before+60 }, "some events to be delivered")
			virtual.Sleep(time.Duration(kills) * 1511 * time.Millisecond)
			r.kill()
		}
		r := p.start(l.attempt, static("one"))
		virtual.Sleep(100 * time.Second)
		testkit.Until(t, func() bool { return distinct(l.all()) == len(records) }, "all events to be delivered")
		virtual.Sleep(2 * time.Second) // for the commit
		r.end()
		if got := p.committed(0); got != int64(len(records)) {
			t.Errorf("committed is %d, want %d", got, len(records))
		}
		// A second's worth at most is delivered twice with each kill.
		if twice := len(l.all()) - len(records); twice > 6*75*10 {
			t.Errorf("%d events were delivered again", twice)
		}
		seen := make(map[string]bool)
		last := ""
		for _, id := range only(l.all(), "busy") {
			if !seen[id] && id < last {
				t.Fatalf("%s was delivered for the first time after %s", id, last)
			}
			seen[id], last = true, max(last, id)
		}
	})
}

// TestRetentionThatTakesABusyUsersEventsIsToldOf: events that are gone from the log
// are lost, which is an error, and nothing waits for them.
func TestRetentionThatTakesABusyUsersEventsIsToldOf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		records, _, _ := busyBacklog(1000, 50)
		p.write(records...)
		var logs testkit.Logs
		l := newLedger(200 * time.Millisecond)
		r := p.start(l.attempt, static("one"), func(_ *Config, s *Settings) { s.Logger = logs.Logger() })
		testkit.Until(t, func() bool { return r.metric("busy_keys", "crm") == 1 }, "the user to be set aside")
		p.delete(900)
		virtual.Sleep(time.Minute)
		testkit.Until(t, func() bool { return slices.Contains(l.all(), fmt.Sprintf("busy-%04d", 999)) }, "the last of the user's events to be delivered")
		virtual.Sleep(2 * time.Second)
		r.end()
		if logs.Count("events lost") != 1 || r.metric("busy_key_losses_total") != 1 {
			t.Errorf("%v losses are counted, and the log says\n%s", r.metric("busy_key_losses_total"), logs.String())
		}
		if got := p.committed(0); got != int64(len(records)) {
			t.Errorf("committed is %d, want %d", got, len(records))
		}
	})
}

// delete has retention take the records of deliver.crm[0] below an offset.
func (p *plant) delete(below int64) {
	p.t.Helper()
	partition := kmsg.NewDeleteRecordsRequestTopicPartition()
	partition.Offset = below
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic, topic.Partitions = "deliver.crm", []kmsg.DeleteRecordsRequestTopicPartition{partition}
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.Topics = []kmsg.DeleteRecordsRequestTopic{topic}
	resp, err := req.RequestWith(p.t.Context(), p.client)
	if err != nil || resp.Topics[0].Partitions[0].ErrorCode != 0 {
		p.t.Fatalf("delete records: %v, %+v", err, resp)
	}
}
