package stagefaults

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/lab"
)

// log is a partition of raw-events, as a test writes it.
type log struct {
	*people

	records []*kgo.Record
}

func (l *log) call(at time.Time) {
	l.write(schemas.OriginAPI, at, at, "")
}

// tell has personas tell a change that became true at an instant, at some time.
func (l *log) tell(at, when time.Time, key, value string) {
	l.write(schemas.OriginPersonas, at, when, fmt.Sprintf(`,"traits":{"%s_%s":%s}`, key, l.suffix, value))
}

func (l *log) write(origin schemas.Origin, at, when time.Time, members string) {
	rec := &kgo.Record{
		Key: []byte(l.run + "-u1"), Timestamp: when,
		Value: fmt.Appendf(nil, `{"timestamp":%q%s}`, at.UTC().Format(schemas.TimeLayout), members),
	}
	kafka.SetHeaders(rec, &schemas.Headers{Source: lab.Source, Type: schemas.TypeTrack, MessageID: strconv.Itoa(len(l.records)), Origin: origin})
	l.records = append(l.records, rec)
}

// TestSums finds what is missing, told again or wrong, and nothing where all is right.
func TestSums(t *testing.T) {
	t.Parallel()
	began := time.UnixMilli(1_700_000_000_000)
	gap := began.Add(activeFor + time.Second) // the user was away
	end := gap.Add(activeFor)
	for name, c := range map[string]struct {
		spoil func(l *log)
		want  findings
	}{
		"all is right": {func(*log) {}, findings{calls: 2, due: 6}},
		"missing":      {func(l *log) { l.records = l.records[:len(l.records)-1] }, findings{calls: 2, due: 6, missing: 1}},
		"told again":   {func(l *log) { l.records = append(l.records, l.records[len(l.records)-1]) }, findings{calls: 2, due: 6, doubled: 1}},
		"once more":    {func(l *log) { l.tell(end, end, "storms", "3") }, findings{calls: 2, due: 6, doubled: 1}},
		"not due":      {func(l *log) { l.tell(end, end, "regulars", "true") }, findings{calls: 2, due: 6, doubled: 1}},
		"of another's": {func(l *log) { l.people = newPeople("other"); l.tell(end, end, "storms", "3") }, findings{calls: 2, due: 6}},
	} {
		p := newPeople("run")
		l := &log{people: p}
		l.call(began)
		l.tell(began, began, "active", "true")
		l.tell(began, began, "storms", "1")
		l.call(gap)
		l.tell(began.Add(activeFor), gap, "active", "false")
		l.tell(gap, gap, "active", "true")
		l.tell(gap, gap, "storms", "2")
		l.tell(end, end, "active", "false")
		c.spoil(l)
		s := newSums(p)
		for _, rec := range l.records {
			s.see(rec)
		}
		if got := s.findings(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// TestSumsOfAWrongInstant: an exit is to the millisecond.
func TestSumsOfAWrongInstant(t *testing.T) {
	t.Parallel()
	p := newPeople("run")
	l := &log{people: p}
	at := time.UnixMilli(1_700_000_000_000)
	l.call(at)
	l.tell(at, at, "active", "true")
	l.tell(at, at, "storms", "1")
	l.tell(at.Add(activeFor+time.Millisecond), at.Add(activeFor), "active", "false")
	s := newSums(p)
	for _, rec := range l.records {
		s.see(rec)
	}
	if f := s.findings(); f.wrong == "" || f.settled() {
		t.Errorf("got %+v", f)
	}
}

// TestEnoughCalls is a matter of what was made and of the faults, not of the machine's speed.
func TestEnoughCalls(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ made, faults, want int }{{90_000, 100, 81_000}, {20_000, 100, 18_000}, {200, 100, 1000}, {0, 6, 60}} {
		if got := (&people{made: tt.made}).least(tt.faults); got != tt.want {
			t.Errorf("of %d calls under %d faults %d have to be there, want %d", tt.made, tt.faults, got, tt.want)
		}
	}
}
