package replay

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// aheadBytes is about how much is read at a time, and held, for each destination.
	aheadBytes = 256 << 10
	// mostLooked is how many events a step looks at for a destination: most of them may not
	// be what is wanted.
	mostLooked = 5_000
	// mostEvents is how many events a step sends to a destination.
	mostEvents = 2_000
	// stepsPerSecond is into how many steps a second of a run's rate is cut.
	stepsPerSecond = 4
	// leastRoom is how many events may wait at a destination whatever the rate is.
	leastRoom = 1_000
	// mostPause is the longest time between two attempts at a topic that takes nothing. One
	// holds up the other destinations for as long as a step may take.
	mostPause = time.Minute
)

// leg is a part of a run that is in hand: what goes to one destination.
type leg struct {
	destination string
	part        *Part // as it is committed
	hold        *hold
	pace        *waiting.Pace
	rate        int

	reader  reader    // nil until the run is prepared
	since   time.Time // when it was committed last, or taken
	room    int64     // events that may be sent before looking again
	looked  time.Time // when the room was looked at
	counted bool      // among those that are waited for

	// What was read ahead of one of the partitions.
	num   int32
	ahead []*kgo.Record
	next  int64 // of the partition, behind what was read
}

// hold is what keeps a destination from its events, also beyond the time that this process
// has the run.
type hold struct {
	trouble string // for people; empty: nothing
	suspect bool   // a transaction has failed with it, so it writes alone
	until   time.Time
	pause   time.Duration
	most    int                       // events at a time; 0: no bound
	refused map[schemas.Position]bool // too large even alone
}

func (h *hold) fail(trouble string, now time.Time) {
	h.trouble, h.suspect = trouble, true
	h.pause = min(max(waiting.First, 2*h.pause), mostPause)
	h.until = now.Add(h.pause)
}

func (e *errand) leg(destination string) *leg {
	h := e.holds[destination]
	if h == nil {
		h = &hold{refused: make(map[schemas.Position]bool)}
		e.holds[destination] = h
	}
	part := e.entry.Parts[destination]
	if part == nil {
		part = newPart(&e.entry.Run, time.Now().UTC().Truncate(time.Millisecond))
	}
	l := &leg{destination: destination, part: part, hold: h, num: -1, since: time.Now()}
	if e.source != nil {
		l.reader = e.source.reader()
	}
	return l
}

// look takes in how much of what was sent is not delivered, or why the topic can't be had.
func (l *leg) look(lags map[int32]groups.Lag, refused error, rate int, now time.Time) {
	l.looked, l.room = now, 0
	if refused != nil {
		l.hold.fail(refused.Error(), now)
		return
	}
	waits := int64(0)
	for _, lag := range lags {
		waits += lag.Offsets()
	}
	most := int64(max(2*rate, leastRoom))
	l.room = max(most-waits, 0)
	switch {
	case now.Before(l.hold.until): // the trouble is another one
	case l.room == 0:
		l.hold.trouble = fmt.Sprintf("waits for the destination: %d events of replays are not delivered yet", waits)
	default:
		l.hold.trouble = ""
	}
}

// load is what a step does for a destination.
type load struct {
	leg          *leg
	before, part *Part
	events       []*kgo.Record
	from         []*kgo.Record // what events are of
	looked       int
}

// load is an empty one.
func (l *leg) load() *load { return &load{leg: l, before: l.part, part: l.part.clone()} }

// stamp says when the part was written, and adds the time since.
func (s *load) stamp(now time.Time) {
	s.part.Updated = now.UTC().Truncate(time.Millisecond)
	s.part.ActiveMs += max(now.Sub(s.leg.since), 0).Milliseconds()
}

// gather puts together what may be sent now; else until is how long there is nothing to do.
func (l *leg) gather(ctx context.Context, e *errand) (until time.Duration, some *load, err error) {
	now, run := time.Now(), &e.entry.Run
	if l.part.State != Open {
		return idle, nil, nil
	}
	if l.rate != run.Rate {
		l.rate, l.pace = run.Rate, waiting.NewPace(run.Rate)
	}
	if wait := max(l.pace.Wait(now), l.hold.until.Sub(now)); wait > 0 {
		return wait, nil, nil
	}
	most := min(max(run.Rate/stepsPerSecond, 1), mostEvents, int(l.room))
	if l.hold.most > 0 {
		most = min(most, l.hold.most)
	}
	if most == 0 {
		return idle, nil, nil
	}
	some = l.load()
	for len(some.events) < most && some.looked < mostLooked {
		if len(l.ahead) > 0 {
			e.decide(some, l.ahead[0])
			l.ahead = l.ahead[1:]
			if len(l.ahead) == 0 {
				some.part.Next[l.num] = max(some.part.Next[l.num], min(l.next, run.Ranges[l.num].To))
			}
			continue
		}
		if len(some.events) > 0 {
			break // what is read next may wait for the brokers
		}
		if more, err := l.read(ctx, e, some); err != nil || !more {
			l.reset()
			return idle, some.orNothing(), err
		}
	}
	if some.part.left(run) == 0 {
		some.part.State = Done
	}
	return 0, some, nil
}

// orNothing is the load if it has anything to say.
func (s *load) orNothing() *load {
	if s.part.State == s.before.State && maps.Equal(s.part.Next, s.before.Next) {
		return nil
	}
	return s
}

// read reads ahead in the partition behind the last one that has something left, or in that
// one if its reader would rather, or notes that nothing is left. It reports whether there
// was anything.
func (l *leg) read(ctx context.Context, e *errand, some *load) (more bool, err error) {
	run := &e.entry.Run
	nums := slices.Sorted(maps.Keys(run.Ranges))
	after := l.num + 1
	if l.reader.within() {
		after = l.num
	}
	at, _ := slices.BinarySearch(nums, after)
	for i := range nums {
		num := nums[(at+i)%len(nums)]
		from, to := some.part.Next[num], run.Ranges[num].To
		if from >= to {
			continue
		}
		part, err := l.reader.part(ctx, num, from)
		if err != nil {
			return false, err
		}
		l.num, l.next = num, part.Next
		switch l.ahead = part.Records; {
		case part.Deleted:
			some.part.Left[Expired] += min(part.Next, to) - from
			some.part.Next[num] = min(part.Next, to)
			return true, nil
		case len(l.ahead) > 0:
			return true, nil
		case part.Next > from:
			some.part.Next[num] = min(part.Next, to)
			return true, nil
		case part.Stable >= to:
			some.part.Next[num] = to
			return true, nil
		}
	}
	if some.part.left(run) == 0 {
		some.part.State = Done
	}
	return false, nil
}

// decide says of a record whether it is sent.
func (e *errand) decide(some *load, rec *kgo.Record) {
	run, p := &e.entry.Run, some.part
	if rec.Offset < p.Next[rec.Partition] || rec.Offset >= run.Ranges[rec.Partition].To {
		return
	}
	some.looked++
	p.Next[rec.Partition] = rec.Offset + 1
	var c call
	e.terms.look(&c, &run.Choice, rec)
	reason := e.terms.verdict(&c, some.leg.destination)
	if reason == Sent {
		reason = e.survey.verdict(rec, e.had[some.leg.destination])
	}
	if reason == Sent && some.leg.hold.refused[schemas.Position{Topic: rec.Topic, Partition: rec.Partition, Offset: rec.Offset}] {
		reason = TooLarge
	}
	if reason != Sent {
		p.Left[reason]++
		return
	}
	p.Sent++
	some.events, some.from = append(some.events, again(&c, some.leg.destination, run.ID)), append(some.from, rec)
}

// sent notes that a load is committed.
func (l *leg) sent(some *load, now time.Time) {
	l.part, l.since = some.part, now
	l.room -= int64(len(some.events))
	l.hold.pause, l.hold.most, l.hold.suspect = 0, 0, false
	if l.pace == nil {
		return
	}
	l.pace.Left(len(some.events), now)
}

// reset has what was read ahead read again.
func (l *leg) reset() { l.ahead, l.num, l.next = nil, l.num-1, 0 }

// shrink has fewer events written at a time, since a batch is refused whole: only what is
// refused alone is too large.
func (s *load) shrink(err error, log *slog.Logger) {
	if n := len(s.events); n > 1 {
		s.leg.hold.most = n / 2
		return
	}
	rec := s.from[0]
	at := schemas.Position{Topic: rec.Topic, Partition: rec.Partition, Offset: rec.Offset}
	s.leg.hold.refused[at], s.leg.hold.most = true, 0
	log.Error("event is not replayed, its destination's topic refuses it as too large", "event", at.String(), "destination", s.leg.destination, "error", err)
}
