package replay

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
	"github.com/anabranch/anabranch/test/testkit"
)

// past writes what has happened to some events, each of which is on the partition of its
// user, and has the journal say it.
type past struct {
	*bench

	prints   *journal.Prints
	calls    map[int32]*format.Calls
	attempts format.Attempts
	began    time.Time
}

func newPast(t *testing.T, b *bench) *past {
	t.Helper()
	if err := b.topics.Ensure(t.Context(), schemas.TopicJournal); err != nil {
		t.Fatal(err)
	}
	prints, err := journal.FindPrints(t.Context(), b.topics)
	if err != nil {
		t.Fatal(err)
	}
	return &past{bench: b, prints: prints, calls: make(map[int32]*format.Calls), began: time.Now().Truncate(time.Millisecond)}
}

// add writes an event to raw-events and returns it as it stands there.
func (b *bench) add(t *testing.T, rec *kgo.Record) *kgo.Record {
	t.Helper()
	if err := b.client.ProduceSync(t.Context(), rec).FirstErr(); err != nil {
		t.Fatal(err)
	}
	return rec
}

// routed says that the router has sent an event to some destinations.
func (p *past) routed(rec *kgo.Record, to ...string) {
	if p.calls[rec.Partition] == nil {
		p.calls[rec.Partition] = new(format.Calls)
	}
	call := format.Call{Offset: rec.Offset, Fingerprint: p.prints.Of(rec), Source: "web", Result: format.Unconnected}
	for _, id := range to {
		call.Result = format.Routed
		call.Decisions = append(call.Decisions, format.Decision{Destination: id, Result: format.Sent})
	}
	p.calls[rec.Partition].Add(&call)
}

// ended says how an event has ended at a destination.
func (p *past) ended(rec *kgo.Record, destination string, outcome format.Outcome) {
	p.attempts.Add(&format.Attempt{
		Offset: int64(p.attempts.Len()), Fingerprint: p.prints.Of(rec), Destination: destination, Source: "web", Outcome: outcome,
		Endpoints: 1, Number: 1, At: p.began, Until: p.began, Topic: "webhook-retry.5s",
	})
}

// write has the journal say it.
func (p *past) write(t *testing.T) {
	t.Helper()
	cl := p.Client(t, kgo.RecordPartitioner(journal.Partitioner(kgo.StickyKeyPartitioner(nil))))
	put := func(head *format.Head, value []byte) {
		if err := cl.ProduceSync(t.Context(), journal.Record(head, value)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	for num, calls := range p.calls {
		h := format.Head{Stage: "router", Topic: schemas.TopicRawEvents, Partition: num, Next: 1000, KeyID: p.prints.KeyID(), Base: p.began}
		put(&h, calls.Append(nil, &h))
	}
	h := format.Head{Stage: "webhook-sink", Topic: "deliver.crm", Next: 1000, KeyID: p.prints.KeyID(), Base: p.began}
	put(&h, p.attempts.Append(nil, &h))
}

// eventful is a log with an event of each kind, and a journal of it: crm was there, lake came
// later, and old is gone.
func eventful(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, "crm", "lake")
	p := newPast(t, b)
	for i, outcome := range []format.Outcome{format.Delivered, format.Dead, format.Retried, 0} {
		rec := b.add(t, event("u1", i))
		p.routed(rec, "crm", "old")
		p.ended(rec, "old", format.Delivered)
		if outcome != 0 {
			p.ended(rec, "crm", outcome)
		}
	}
	b.add(t, event("u1", 0)) // a copy
	rec := b.add(t, event("u2", 10))
	p.routed(rec)
	b.add(t, event("u2", 11)) // of which the journal knows nothing
	b.add(t, event("hidden", 20))
	b.add(t, event("leaver", 21))
	order := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte("leaver"), Value: []byte(`{"type":"delete","userId":"leaver"}`)}
	kafka.SetHeaders(order, &schemas.Headers{Source: "web", Type: schemas.TypeDelete, MessageID: "d", Origin: schemas.OriginDeletion})
	b.add(t, order)
	b.add(t, event("leaver", 22)) // came back
	told := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte("u1"), Value: []byte(`{"type":"identify"}`)}
	kafka.SetHeaders(told, &schemas.Headers{Source: workspace.SourcePersonas, Type: schemas.TypeIdentify, MessageID: "p", Origin: schemas.OriginPersonas})
	b.add(t, told)
	b.add(t, &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte("u1"), Headers: []kgo.RecordHeader{{Key: "type", Value: []byte("nonsense")}}})
	p.write(t)
	return b
}

func isHidden(userID []byte) bool { return string(userID) == "hidden" }

// plan is what a run of all that there is would do.
func (b *bench) plan(t *testing.T, choice Choice) *Forecast {
	t.Helper()
	o := &Operator{Kafka: b.Options(), Topics: b.topics}
	run, err := o.Prepare(t.Context(), Request{From: time.Now().Add(-time.Hour), Choice: choice, Rate: 2}, b.live.Load(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	f, err := o.Plan(t.Context(), run, b.live.Load(), listeners{}, isHidden)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestAPlan says what would be sent and what is left out, and how that differs from what was
// sent then.
func TestAPlan(t *testing.T) {
	t.Parallel()
	b := eventful(t)
	left := func(more map[Reason]int64) map[Reason]int64 {
		all := map[Reason]int64{Copy: 1, Suppressed: 1, Deleted: 1, Notification: 1, Personas: 1, Invalid: 1}
		maps.Copy(all, more)
		return all
	}
	track := func(n int64) map[schemas.Type]int64 { return map[schemas.Type]int64{schemas.TypeTrack: n} }
	for name, c := range map[string]struct {
		choice  Choice
		want    map[string]*Expected
		seconds int64
	}{
		"everything": {
			want: map[string]*Expected{
				// Of the one that waits and the one without an end it may be that they are under way.
				"crm":  {Send: 7, ByType: track(7), Left: left(nil), Missing: 2, Again: 3, Unknown: 2},
				"lake": {Send: 7, ByType: track(7), Left: left(nil), Missing: 5, Unknown: 2},
				"old":  {ByType: map[schemas.Type]int64{}, Left: map[Reason]int64{}, Gone: 4},
			},
			seconds: 4,
		},
		"what is missing": {
			choice: Choice{Missing: true},
			want: map[string]*Expected{
				"crm":  {Send: 2, ByType: track(2), Left: left(map[Reason]int64{Had: 3, Unknown: 2}), Missing: 2, Again: 3, Unknown: 2},
				"lake": {Send: 5, ByType: track(5), Left: left(map[Reason]int64{Unknown: 2}), Missing: 5, Unknown: 2},
				"old":  {ByType: map[schemas.Type]int64{}, Left: map[Reason]int64{}, Gone: 4},
			},
			seconds: 3,
		},
		"of a user, to one": {
			choice:  Choice{User: "u2", Destination: "lake"},
			want:    map[string]*Expected{"lake": {Send: 2, ByType: track(2), Left: map[Reason]int64{Unwanted: 11}, Missing: 1, Unknown: 1}},
			seconds: 1,
		},
		"an event": {
			choice:  Choice{Event: "e3", Destination: "crm"}, // 3 and 10
			want:    map[string]*Expected{"crm": {Send: 2, ByType: track(2), Left: map[Reason]int64{Unwanted: 11}, Missing: 1, Again: 1}},
			seconds: 1,
		},
	} {
		f := b.plan(t, c.choice)
		if diff := cmp.Diff(c.want, f.Destinations); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if f.Events != 13 || !f.Journal || f.Seconds != c.seconds || f.First.IsZero() || f.Last.Before(f.First) {
			t.Errorf("%s: %+v", name, f)
		}
		var text strings.Builder
		if err := f.Print(&text); err != nil || !strings.Contains(text.String(), "NOT SENT THEN") {
			t.Errorf("%s: %v\n%s", name, err, text.String())
		}
	}
}

// TestAPlanAndItsRun agree.
func TestAPlanAndItsRun(t *testing.T) {
	t.Parallel()
	agree(t, Choice{})
}

// TestAPlanAndItsRunOfWhatIsMissing agree.
func TestAPlanAndItsRunOfWhatIsMissing(t *testing.T) {
	t.Parallel()
	agree(t, Choice{Missing: true})
}

func agree(t *testing.T, choice Choice) {
	t.Helper()
	b := eventful(t)
	b.drain(t, "crm", "lake")
	f := b.plan(t, choice)
	r := b.ask(t, func(r *Run) { r.Choice = choice })
	s := b.service(t, func(set *Settings) { set.Register = suppressing(t, "hidden") })
	testkit.Start(t, s.Run)
	e := b.over(t, r.ID)
	for _, id := range r.Destinations {
		want := f.Destinations[id]
		if diff := cmp.Diff(want.Left, e.Parts[id].Left); diff != "" || e.Parts[id].Sent != want.Send {
			t.Errorf("%s was sent %d, the plan said %d; left out (-plan +run):\n%s", id, e.Parts[id].Sent, want.Send, diff)
		}
		b.ReadAll(t, schemas.ReplayTopic(id), int(want.Send))
	}
}

// TestWithoutAJournal nobody knows what is missing.
func TestWithoutAJournal(t *testing.T) {
	t.Parallel()
	b := newBench(t, "crm")
	b.fill(t, 20)
	f := b.plan(t, Choice{})
	if e := f.Destinations["crm"]; f.Journal || e.Send != 20 || e.Unknown != 20 {
		t.Errorf("%+v, %+v", f, e)
	}
	var text strings.Builder
	if err := f.Print(&text); err != nil || !strings.Contains(text.String(), "it is not known what was sent then") {
		t.Errorf("%v\n%s", err, text.String())
	}
	o := &Operator{Kafka: b.Options(), Topics: b.topics}
	_, err := o.Prepare(t.Context(), Request{Choice: Choice{Missing: true}, Rate: 1}, b.live.Load(), time.Now())
	if err == nil || !strings.Contains(err.Error(), "--only missing: the journal says nothing") {
		t.Errorf("--only missing: %v", err)
	}
}

// TestARangePastRetention: a plan says that there may have been more, and where there was
// nothing before, it does not.
func TestARangePastRetention(t *testing.T) {
	t.Parallel()
	b := newBench(t, "crm")
	b.fill(t, 100)
	const notice = "begins later: retention may have deleted events of this time\n"
	printed := func(from time.Time) (f *Forecast, text string) {
		t.Helper()
		o := b.operator()
		run, err := o.Prepare(t.Context(), Request{From: from, Rate: 1}, b.live.Load(), time.Now())
		if err == nil {
			f, err = o.Plan(t.Context(), run, b.live.Load(), listeners{}, nil)
		}
		var out strings.Builder
		if err == nil {
			err = f.Print(&out)
		}
		if err != nil {
			t.Fatal(err)
		}
		return f, out.String()
	}
	if f, text := printed(time.Now().Add(-time.Hour)); f.Cut != 0 || strings.Contains(text, notice) {
		t.Errorf("nothing was deleted: %d partitions\n%s", f.Cut, text)
	}
	b.DeleteBefore(t, schemas.TopicRawEvents, 10)
	f, text := printed(time.Now().Add(-time.Hour))
	if f.Cut != 1 || !strings.Contains(text, "on 1 of 3 partitions raw-events "+notice) {
		t.Errorf("%d partitions\n%s", f.Cut, text)
	}
	if f, text = printed(time.Now()); f.Cut != 0 || strings.Contains(text, notice) {
		t.Errorf("of later events nothing was deleted: %d partitions\n%s", f.Cut, text)
	}
}

// TestARequestThatCannotWork is refused with the flag that says it.
func TestARequestThatCannotWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, "crm")
	o := &Operator{Kafka: b.Options(), Topics: b.topics}
	b.live = workspace.NewLive(workspace.NewSnapshot(connected().Sources(), []workspace.Destination{
		{ID: "crm", Type: workspace.TypeWebhooks, Enabled: true, Sources: []string{"web"}},
		{ID: "export", Type: workspace.TypeTopic, Enabled: true, Sources: []string{"web"}},
	}))
	if run, err := o.Prepare(t.Context(), Request{Rate: 1}, b.live.Load(), time.Now()); err != nil || !slices.Equal(run.Destinations, []string{"crm"}) {
		t.Errorf("all destinations: %+v, %v", run, err)
	}
	now := time.Now()
	for want, q := range map[string]Request{
		"--source=App: expected the id of a source":         {Choice: Choice{Source: "App"}},
		"--destination=a_b: expected the id of a desti":     {Choice: Choice{Destination: "a_b"}},
		"--type=delete: expected one of [identify track":    {Choice: Choice{Type: schemas.TypeDelete}},
		"--event=x --type=page: only calls of type trac":    {Choice: Choice{Event: "x", Type: schemas.TypePage}},
		"--source=app: the workspace has no such source":    {Choice: Choice{Source: "app"}},
		"--destination=off: the workspace has no such d":    {Choice: Choice{Destination: "off"}},
		"--destination=export: it is of type topic: expect": {Choice: Choice{Destination: "export"}},
		"expected a time that begins before it ends":        {From: now, To: now.Add(-time.Hour)},
	} {
		q.Rate = 1
		if _, err := o.Prepare(t.Context(), q, b.live.Load(), now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}

// TestTheRange is by receipt: the first moment counts, the last does not, and what comes
// later is not in it.
func TestTheRange(t *testing.T) {
	t.Parallel()
	b := newBench(t, "crm")
	b.KeepTimestamps(t, schemas.TopicRawEvents)
	noon := time.Now().Add(-30 * time.Minute).Truncate(time.Second)
	for i := range 10 {
		rec := event("u", i)
		rec.Timestamp = noon.Add(time.Duration(i) * time.Second)
		b.add(t, rec)
	}
	o := &Operator{Kafka: b.Options(), Topics: b.topics}
	for _, c := range []struct {
		from, to time.Time
		want     int64
	}{
		{noon, noon.Add(3 * time.Second), 3},
		{noon.Add(time.Second), noon.Add(3 * time.Second), 2},
		{time.Time{}, noon.Add(3 * time.Second), 3},
		{noon.Add(8 * time.Second), time.Time{}, 2},
		{noon.Add(time.Minute), time.Time{}, 0},
		{noon.Add(-time.Minute), noon, 0},
	} {
		run, err := o.Resolve(t.Context(), c.from, c.to, time.Now())
		if err != nil || run.Events() != c.want {
			t.Errorf("%s to %s: %d events, %v; want %d", c.from, c.to, run.Events(), err, c.want)
		}
	}
}
