package console

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/router"
	"github.com/anabranch/anabranch/router/replay"
	"github.com/anabranch/anabranch/schemas"
)

// called writes calls of the website to raw-events, one after the other on one partition, and
// returns when they were received.
func called(t *testing.T, b *Brokers, messageIDs ...string) time.Time {
	t.Helper()
	if err := b.Topics.Ensure(t.Context(), schemas.TopicRawEvents, schemas.TopicImports, schemas.TopicReplays); err != nil {
		t.Fatal(err)
	}
	at := time.Now().UTC()
	for _, id := range messageIDs {
		r := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte("u1"), Value: []byte(`{"type":"track","messageId":"` + id + `","userId":"u1","event":"Signed Up"}`)}
		kafka.SetHeaders(r, &schemas.Headers{Source: "website", Type: schemas.TypeTrack, MessageID: id, Origin: schemas.OriginAPI})
		if err := b.Topics.Client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// partitionOf is where the calls of a user are.
func partitionOf(t *testing.T, f *replay.Forecast) int32 {
	t.Helper()
	for num, o := range f.Run.Ranges {
		if o.To > o.From {
			return num
		}
	}
	t.Fatal("the calls are nowhere")
	return 0
}

// threeCalls are questions about a cluster that has three calls, which the plan is of, and the
// replay of the second of them.
func threeCalls(t *testing.T) (q Questions, f *replay.Forecast, one ReplayOf) {
	t.Helper()
	b := newBrokers(t)
	b.Judge = func() replay.Judge { return new(router.Judge) }
	at := called(t, b, "m1", "m2", "m3")
	q = FromBrokers(b)
	if past, err := q.Past(t.Context()); err != nil || len(past.Runs)+len(past.Imports) != 0 {
		t.Errorf("before there is any: %+v, %v", past, err)
	}
	f, err := q.Forecast(t.Context(), ReplayOf{From: at.Add(-time.Hour), To: at.Add(time.Hour), Rate: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return q, f, ReplayOf{One: EventAt{Partition: partitionOf(t, f), Offset: 1, At: at}, Choice: replay.Choice{Destination: "crm"}, Rate: 100}
}

// TestReplaysFromBrokers are planned, started and steered, whole times and single events.
func TestReplaysFromBrokers(t *testing.T) {
	t.Parallel()
	q, f, one := threeCalls(t)
	if f.Total() != 6 || f.Destinations["crm"].Send != 3 {
		t.Errorf("the plan of all is %+v", f)
	}
	f, err := q.Forecast(t.Context(), one, nil)
	if err != nil || f.Total() != 1 || f.Events != 1 || len(f.Destinations) != 1 {
		t.Errorf("the plan of one is %+v, %v", f, err)
	}
	id, err := q.StartReplay(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	if err = q.SteerReplay(t.Context(), id, ReplayChange{Wish: replay.Paused, Rate: 7}); err != nil {
		t.Error(err)
	}
	past, err := q.Past(t.Context())
	if err != nil || past.run(id) == nil {
		t.Fatalf("what was started is not there: %+v, %v", past, err)
	}
	run := past.run(id).Run
	if run.Events() != 1 || run.Wish != replay.Paused || run.Rate != 7 {
		t.Errorf("it is %+v", run)
	}
	if diff := cmp.Diff([]string{"crm"}, run.Destinations); diff != "" {
		t.Errorf("its destinations (-want +got):\n%s", diff)
	}
}

// TestReplaysThatCannotBe are refused with an answer that fits.
func TestReplaysThatCannotBe(t *testing.T) {
	t.Parallel()
	q, _, one := threeCalls(t)
	id, err := q.StartReplay(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	if err = q.SteerReplay(t.Context(), id, ReplayChange{Wish: replay.Cancelled}); err != nil {
		t.Fatal(err)
	}
	at := one.One.At
	one.One.Offset = 99
	_, gone := q.StartReplay(t.Context(), one)
	_, nothing := q.StartReplay(t.Context(), ReplayOf{From: at.Add(-2 * time.Hour), To: at.Add(-time.Hour), Rate: 1})
	for name, c := range map[string]struct {
		err    error
		status int
	}{
		"an event that is gone": {gone, http.StatusConflict},
		"a time of nothing":     {nothing, http.StatusConflict},
		"a replay that is over": {q.SteerReplay(t.Context(), id, ReplayChange{Wish: replay.Running}), http.StatusConflict},
		"no such replay":        {q.SteerReplay(t.Context(), "none", ReplayChange{Wish: replay.Running}), http.StatusNotFound},
	} {
		if p, ok := errors.AsType[*problem](c.err); !ok || p.status != c.status {
			t.Errorf("%s: %v, expected an answer of %d", name, c.err, c.status)
		}
	}
}
