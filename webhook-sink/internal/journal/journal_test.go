package journal_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
	sink "github.com/anabranch/anabranch/webhook-sink/internal/journal"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// paper is what a journal is written on; while it is broken nothing is.
type paper struct {
	mu      sync.Mutex
	broken  bool
	records []*format.Record
}

var errBroken = errors.New("broken")

func (p *paper) write(_ context.Context, rec *kgo.Record) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		return errBroken
	}
	r, err := format.Decode(rec.Key, rec.Value)
	if err == nil {
		p.records = append(p.records, r)
	}
	return err
}

// all are the attempts on paper, and how many were lost.
func (p *paper) all() (all []format.Attempt, lost int) {
	for _, r := range p.records {
		all = slices.AppendSeq(all, r.Attempts())
		lost += r.Lost
	}
	return all, lost
}

type tally struct{ failed, lost int }

func newJournal(most int) (*sink.Journal, *tally) {
	t := new(tally)
	j := sink.New(sink.Options{
		Logger: slog.New(slog.DiscardHandler), Most: most,
		Failed: func() { t.failed++ }, Lost: func() { t.lost++ },
	})
	j.Name(journal.PrintsOf("an id"))
	return j, t
}

func record(offset int64) *kgo.Record {
	r := &kgo.Record{Topic: "deliver.crm", Partition: 2, Offset: offset, Key: []byte("user")}
	kafka.SetHeaders(r, &schemas.Headers{Source: "web", MessageID: "m", Type: schemas.TypeTrack})
	return r
}

var delivered = schedule.Fate{Ending: schedule.Delivered, Headers: schemas.Headers{Destination: "crm", Source: "web", Attempt: 1, Reason: schemas.ReasonTimeout}}

// TestWhatIsSaidOfAnEnd, by how the record ended.
func TestWhatIsSaidOfAnEnd(t *testing.T) {
	t.Parallel()
	due := time.Now().Add(time.Hour).Truncate(time.Millisecond).UTC()
	h := schemas.Headers{Destination: "crm", Source: "web", Attempt: 2, Withheld: 3, Reason: schemas.ReasonTimeout, Due: due}
	took := outcome.Outcome{Took: 1500 * time.Microsecond, Asked: 0b101}
	for _, c := range []struct {
		fate schedule.Fate
		want format.Attempt
	}{
		{schedule.Fate{Ending: schedule.Delivered, Headers: h}, format.Attempt{Outcome: format.Delivered}},
		{schedule.Fate{Ending: schedule.Retried, Topic: "webhook-retry.5s", Headers: h}, format.Attempt{Outcome: format.Retried, Reason: h.Reason, Until: due, Topic: "webhook-retry.5s"}},
		{schedule.Fate{Ending: schedule.Withheld, Topic: "webhook-retry.5s", Headers: h}, format.Attempt{Outcome: format.Withheld, Reason: h.Reason, Until: due, Topic: "webhook-retry.5s"}},
		{schedule.Fate{Ending: schedule.Hopped, Topic: "webhook-retry.1m", Headers: h}, format.Attempt{Outcome: format.Deferred, Reason: h.Reason, Until: due, Topic: "webhook-retry.1m"}},
		{schedule.Fate{Ending: schedule.Dead, Headers: h}, format.Attempt{Outcome: format.Dead, Reason: h.Reason}},
	} {
		j, _ := newJournal(0)
		var p paper
		j.Note(record(7), c.fate, took)
		if err := j.Write(t.Context(), p.write); err != nil {
			t.Fatal(err)
		}
		all, _ := p.all()
		if len(all) != 1 || time.Since(all[0].At).Abs() > time.Minute {
			t.Fatalf("%d attempts: %+v", len(all), all)
		}
		c.want.Offset, c.want.Fingerprint, c.want.At = 7, journal.PrintsOf("an id").Of(record(7)), all[0].At
		c.want.Destination, c.want.Source, c.want.Endpoints, c.want.Took, c.want.Number, c.want.Withheld = "crm", "web", 0b101, time.Millisecond, 2, 3
		if all[0] != c.want {
			t.Errorf("%+v, want %+v", all[0], c.want)
		}
		if r := p.records[0]; r.Stage != "webhook-sink" || r.Topic != "deliver.crm" || r.Partition != 2 || r.From != 7 || r.Next != 8 || r.KeyID != journal.PrintsOf("an id").KeyID() {
			t.Errorf("head %+v", r.Head)
		}
	}
}

// TestWhatWasNotWrittenIsWrittenLater, once, in order, before what came since.
func TestWhatWasNotWrittenIsWrittenLater(t *testing.T) {
	t.Parallel()
	j, counted := newJournal(0)
	p := paper{broken: true}
	const each = 5000 // more than a record has
	for round := range int64(3) {
		for n := range int64(each) {
			j.Note(record(round*each+n), delivered, outcome.Outcome{Asked: 1})
		}
		if err := j.Write(t.Context(), p.write); !errors.Is(err, errBroken) {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	p.broken = false
	for range 2 {
		if err := j.Write(t.Context(), p.write); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(p.records, func(a, b *format.Record) int { return int(a.From - b.From) }) // they are written side by side
	all, lost := p.all()
	for i, a := range all {
		if a.Offset != int64(i) {
			t.Fatalf("attempt %d is of offset %d", i, a.Offset)
		}
	}
	if len(all) != 3*each || lost != 0 || counted.failed != 3 || counted.lost != 0 {
		t.Errorf("%d attempts on paper, %d lost, %+v", len(all), lost, *counted)
	}
}

// TestWhatWaitsIsBounded: what is beyond it is counted, and said in the journal, which has
// room again once it is written.
func TestWhatWaitsIsBounded(t *testing.T) {
	t.Parallel()
	j, counted := newJournal(2000)
	p := paper{broken: true}
	const n = 1000
	for i := range int64(n) {
		j.Note(record(i), delivered, outcome.Outcome{})
		if i == n/2 {
			_ = j.Write(t.Context(), p.write)
		}
	}
	p.broken = false
	if err := j.Write(t.Context(), p.write); err != nil {
		t.Fatal(err)
	}
	all, lost := p.all()
	if len(all)+lost != n || lost != counted.lost || len(all) < 2000/20 || len(all) > 2000/10 {
		t.Errorf("%d attempts on paper, %d lost of %d counted, of %d", len(all), lost, counted.lost, n)
	}
	j.Note(record(n), delivered, outcome.Outcome{})
	if err := j.Write(t.Context(), p.write); err != nil {
		t.Fatal(err)
	}
	if again, _ := p.all(); len(again) != len(all)+1 || counted.lost != lost {
		t.Errorf("%d attempts on paper after another one, %d counted as lost", len(again), counted.lost)
	}
}

// TestAnotherKey begins another record.
func TestAnotherKey(t *testing.T) {
	t.Parallel()
	j, _ := newJournal(0)
	var p paper
	j.Note(record(1), delivered, outcome.Outcome{})
	j.Name(journal.PrintsOf("made anew"))
	j.Note(record(2), delivered, outcome.Outcome{})
	if err := j.Write(t.Context(), p.write); err != nil {
		t.Fatal(err)
	}
	if len(p.records) != 2 || p.records[0].KeyID == p.records[1].KeyID {
		t.Errorf("%d records", len(p.records))
	}
}

// BenchmarkNote is what a delivery costs more, with writing it; the bytes are those that
// are stored of it, without compression.
func BenchmarkNote(b *testing.B) {
	j, _ := newJournal(0)
	rec := record(0)
	bytes, n := 0, 0
	write := func(_ context.Context, r *kgo.Record) error {
		bytes += len(r.Key) + len(r.Value)
		return nil
	}
	b.ReportAllocs()
	for b.Loop() {
		rec.Offset++
		j.Note(rec, delivered, outcome.Outcome{Took: 20 * time.Millisecond, Asked: 1})
		if n++; n%500 == 0 {
			if err := j.Write(b.Context(), write); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(bytes)/float64(n), "B/delivery")
}
