package replay

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// Forecast is what a run would do, and what it would change.
type Forecast struct {
	// ID is that of the plan, where it is kept and can be started, and Digest tells whether
	// two plans have found the same.
	ID     string `json:"id,omitempty"`
	Digest string `json:"digest,omitempty"`

	Run          *Run                 `json:"run"`
	Events       int64                `json:"events"` // in the range
	First        time.Time            `json:"first,omitzero"`
	Last         time.Time            `json:"last,omitzero"`
	Destinations map[string]*Expected `json:"destinations"`
	// Journal says whether the journal speaks of the range: without it there is no telling
	// what was sent then.
	Journal bool  `json:"journal"`
	Seconds int64 `json:"seconds"` // that the run would take at its rate
	// Cut is on how many partitions the log has lost its beginning and begins within the
	// range, or behind it: retention may have deleted events of the range there.
	Cut int `json:"cutPartitions,omitempty"`
}

// Expected is what a run would do at one destination.
type Expected struct {
	Send   int64                  `json:"send"`
	ByType map[schemas.Type]int64 `json:"byType"`
	Left   map[Reason]int64       `json:"left"` // what is left out
	// The difference to what was sent then, of the events that were asked for.
	Missing int64 `json:"missing"` // would be sent now and was not
	Again   int64 `json:"again"`   // was sent and would be again
	Gone    int64 `json:"gone"`    // was sent and would not be
	Unknown int64 `json:"unknown"` // would be sent now, and the journal does not say whether it was
}

// Total adds up all destinations.
func (f *Forecast) Total() (n int64) {
	for _, e := range f.Destinations {
		n += e.Send
	}
	return n
}

// planner reads a range for a forecast.
type planner struct {
	run    *Run
	terms  terms
	survey *survey
	result *Forecast
	// progress is told, now and then, how many events of how many were read; nil: nobody wants
	// to know.
	progress func(done, total int64)

	call   call
	chosen byPartition
	now    map[string]map[schemas.Type]byPartition // what would be sent, copies included
}

// plan reads the range of a run and says what it would do. It writes nothing.
func (p *planner) plan(ctx context.Context, from source, opts []kgo.Opt, client *kgo.Client) (*Forecast, error) {
	p.result = &Forecast{Run: p.run, Destinations: make(map[string]*Expected)}
	for _, id := range p.run.Destinations {
		p.expected(id)
	}
	if err := from.open(ctx); err != nil {
		return nil, err
	}
	if err := from.update(ctx); err != nil {
		return nil, err
	}
	p.terms.deleted = from.deleted
	p.clear()
	// Of events in an archive the journal does not know the places.
	p.survey = &survey{run: p.run, source: from, kafka: opts, client: client, journal: p.run.Archive == nil, each: p.each, portion: p.portion}
	if err := p.survey.conduct(ctx); err != nil {
		return nil, err
	}
	for _, e := range p.result.Destinations {
		p.result.Seconds = max(p.result.Seconds, (e.Send+int64(p.run.Rate)-1)/int64(p.run.Rate))
	}
	return p.result, nil
}

func (p *planner) clear() {
	p.chosen, p.now = make(byPartition), make(map[string]map[schemas.Type]byPartition)
}

func (p *planner) expected(destination string) *Expected {
	e := p.result.Destinations[destination]
	if e == nil {
		e = &Expected{ByType: make(map[schemas.Type]int64), Left: make(map[Reason]int64)}
		p.result.Destinations[destination] = e
	}
	return e
}

// toldEach is after how many events it is said how many were read.
const toldEach = 1_000

// each takes in one event of the range.
func (p *planner) each(rec *kgo.Record) error {
	if p.result.Events++; p.progress != nil && p.result.Events%toldEach == 0 {
		p.progress(p.result.Events, p.run.Events())
	}
	start := p.run.Ranges[rec.Partition].From
	p.terms.look(&p.call, &p.run.Choice, rec)
	if p.call.reason != Unwanted {
		p.chosen.of(rec.Partition, start).set(rec.Offset)
	}
	for _, id := range p.run.Destinations {
		reason := p.terms.verdict(&p.call, id)
		if reason != Sent {
			p.expected(id).Left[reason]++
			continue
		}
		types := p.now[id]
		if types == nil {
			types = make(map[schemas.Type]byPartition)
			p.now[id] = types
		}
		if types[p.call.headers.Type] == nil {
			types[p.call.headers.Type] = make(byPartition)
		}
		types[p.call.headers.Type].of(rec.Partition, start).set(rec.Offset)
		p.note(rec.Timestamp)
	}
	return nil
}

// note widens the time from the first event to the last.
func (p *planner) note(at time.Time) {
	if p.result.First.IsZero() || at.Before(p.result.First) {
		p.result.First = at.UTC()
	}
	if at.After(p.result.Last) {
		p.result.Last = at.UTC()
	}
}

// portion adds up what is known of some partitions, and forgets it.
func (p *planner) portion(nums []int32) {
	s := p.survey
	for _, num := range nums {
		p.result.Journal = p.result.Journal || s.known[num].len() > 0
		for _, id := range p.run.Destinations {
			p.add(id, num)
		}
		for _, id := range slices.Sorted(maps.Keys(s.then)) {
			// One that the workspace does not have, or not for this.
			if !slices.Contains(p.run.Destinations, id) && p.run.Choice.Destination == "" {
				if n := s.then[id].had(num).and(p.chosen[num]).len(); n > 0 {
					p.expected(id).Gone += n
				}
			}
		}
		delete(s.known, num)
		delete(s.copies, num)
	}
	p.clear()
	clear(s.then)
}

// add adds up one partition for a destination.
func (p *planner) add(id string, num int32) {
	s, e := p.survey, p.expected(id)
	copies, known, had := s.copies[num], s.known[num], s.then[id].had(num)
	var all *offsets
	for kind, of := range p.now[id] {
		could := of[num].without(copies)
		all = all.or(could)
		e.Left[Copy] += of[num].and(copies).len()
		if p.run.Choice.Missing {
			e.Left[Had] += could.and(had).len()
			e.Left[Unknown] += could.without(had).without(known).len()
			could = could.without(had).and(known)
		}
		if n := could.len(); n > 0 {
			e.Send += n
			e.ByType[kind] += n
		}
	}
	e.Missing += all.without(had).and(known).len()
	e.Again += all.and(had).len()
	e.Unknown += all.without(had).without(known).len()
	e.Gone += had.and(p.chosen[num]).without(all).len()
	for _, reason := range []Reason{Copy, Had, Unknown} {
		if e.Left[reason] == 0 {
			delete(e.Left, reason)
		}
	}
}
