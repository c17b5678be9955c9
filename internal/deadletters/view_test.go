package deadletters_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/deadletters/internal/dltest"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

func newYard(t *testing.T) (*dltest.Yard, *testkit.Cluster) {
	t.Helper()
	cluster := testkit.Brokers(t)
	return dltest.New(t, cluster.Client(t), cluster.Options()), cluster
}

func open(t *testing.T, y *dltest.Yard, selected deadletters.Selection) *deadletters.View {
	t.Helper()
	view, err := deadletters.Open(t.Context(), y.Log, selected)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// ids are those of the dead letters in a view.
func ids(t *testing.T, view *deadletters.View) []deadletters.ID {
	t.Helper()
	var got []deadletters.ID
	err := view.Each(t.Context(), func(l *deadletters.Letter) error {
		got = append(got, l.ID)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestNoTopicIsNoDeadLetters(t *testing.T) {
	t.Parallel()
	y, _ := newYard(t)
	if got := ids(t, open(t, y, deadletters.Selection{})); len(got) != 0 {
		t.Errorf("found %v", got)
	}
	err := open(t, y, deadletters.Selection{IDs: []deadletters.ID{{}}}).Each(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "0-0") {
		t.Errorf("an id of a topic that does not exist: %v", err)
	}
}

// sorted orders ids by their places: what died in one millisecond has no other order.
func sorted(ids []deadletters.ID) []deadletters.ID {
	return slices.SortedFunc(slices.Values(ids), func(a, b deadletters.ID) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
	})
}

func TestViewSelects(t *testing.T) {
	t.Parallel()
	y, _ := newYard(t)
	var all, crm, timeouts []deadletters.ID
	for i := range 40 {
		destination, reason := "crm", schemas.ReasonStatus4xx
		if i%2 == 0 {
			destination = "books"
		}
		if i%3 == 0 {
			reason = schemas.ReasonTimeout
		}
		id := y.Die(t, dltest.Headers(i, destination, reason))
		all = append(all, id)
		if destination == "crm" {
			crm = append(crm, id)
		}
		if reason == schemas.ReasonTimeout {
			timeouts = append(timeouts, id)
		}
	}
	for name, c := range map[string]struct {
		selected deadletters.Selection
		want     []deadletters.ID
	}{
		"all":         {deadletters.Selection{}, all},
		"destination": {deadletters.Selection{Destination: "crm"}, crm},
		"reason":      {deadletters.Selection{Reason: schemas.ReasonTimeout}, timeouts},
		"ids":         {deadletters.Selection{IDs: []deadletters.ID{all[30], all[3], all[17]}}, []deadletters.ID{all[30], all[3], all[17]}},
		"hour":        {deadletters.Selection{Since: time.Now().Add(-time.Hour)}, all},
		"future":      {deadletters.Selection{Since: time.Now().Add(time.Hour)}, nil},
	} {
		if got := ids(t, open(t, y, c.selected)); !slices.Equal(sorted(got), sorted(c.want)) {
			t.Errorf("%s: found %v, want %v", name, got, c.want)
		}
	}
}

// A redrive that fails again must not meet its own dead letters.
func TestViewEndsWhereItWasOpened(t *testing.T) {
	t.Parallel()
	y, _ := newYard(t)
	first := y.Die(t, dltest.Headers(1, "crm", schemas.ReasonStatus4xx))
	view := open(t, y, deadletters.Selection{})
	y.Die(t, dltest.Headers(1, "crm", schemas.ReasonStatus4xx))
	if got := ids(t, view); !slices.Equal(got, []deadletters.ID{first}) {
		t.Errorf("found %v, want %v alone", got, first)
	}
}

func TestIDsThatAreNone(t *testing.T) {
	t.Parallel()
	y, cluster := newYard(t)
	there := y.Die(t, dltest.Headers(1, "crm", schemas.ReasonStatus4xx))
	marker := commitOne(t, cluster, there.Partition)
	for _, c := range []struct {
		id   deadletters.ID
		want string
	}{
		{deadletters.ID{Partition: 9}, "9-0: expected one of 2 partitions"},
		{deadletters.ID{Partition: there.Partition, Offset: 99}, "holds the offsets from 0 up to"},
		{deadletters.ID{Partition: 1 - there.Partition}, "holds none"},
		{marker, "1 of 2 ids name no dead letter"},
	} {
		selected := deadletters.Selection{IDs: []deadletters.ID{there, c.id}}
		err := open(t, y, selected).Each(t.Context(), func(*deadletters.Letter) error { return nil })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.id, err, c.want)
		}
	}
}

// commitOne writes a dead letter in a transaction, as the router does, and
// returns where the marker of the transaction stands.
func commitOne(t *testing.T, cluster *testkit.Cluster, partition int32) deadletters.ID {
	t.Helper()
	cl := cluster.Client(t, kgo.TransactionalID("test"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	r := &kgo.Record{Topic: schemas.TopicDeadLetters, Partition: partition}
	if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if err := cl.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	marker := r.Offset + 1
	testkit.Until(t, func() bool { // brokers write it after their answer
		held, err := ranges.List(t.Context(), cl, schemas.TopicDeadLetters, time.Time{})
		return err == nil && held[partition].End > marker
	}, "the marker")
	return deadletters.ID{Partition: partition, Offset: marker}
}

func TestEventByReference(t *testing.T) {
	t.Parallel()
	y, _ := newYard(t)
	h := dltest.Headers(1, "crm", schemas.ReasonRecordTooLarge)
	event := dltest.Event(h)
	y.Ensure(t, event.Topic, schemas.TopicDeadLetters)
	kafka.SetHeaders(event, &schemas.Headers{Source: h.Source, Type: h.Type, MessageID: h.MessageID})
	y.Bury(t, event)
	y.Bury(t, kafka.DeadLetterReference(event, h, time.Now()))

	another := h
	another.MessageID = "m2" // stands where the topic was made anew
	y.Bury(t, kafka.DeadLetterReference(event, another, time.Now()))
	for _, from := range []kgo.Record{
		{Topic: "deliver.nobody"},
		{Topic: event.Topic, Partition: 77},
		{Topic: event.Topic, Partition: event.Partition, Offset: event.Offset + 1},
	} {
		from.Key = event.Key
		y.Bury(t, kafka.DeadLetterReference(&from, h, time.Now()))
	}
	var values []string
	lost := 0
	err := open(t, y, deadletters.Selection{}).Each(t.Context(), func(l *deadletters.Letter) error {
		found, err := y.Event(t.Context(), l)
		switch {
		case errors.Is(err, deadletters.ErrGone):
			lost++
		case err != nil:
			return err
		default:
			values = append(values, string(found.Value))
		}
		return nil
	})
	if err != nil || lost != 4 || len(values) != 1 || values[0] != string(event.Value) {
		t.Errorf("events %q, %d gone, error %v; want %q and 4 gone", values, lost, err, event.Value)
	}
}
