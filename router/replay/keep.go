package replay

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// PlanLife is how long a plan can be started: what it found is of its time.
	PlanLife = 24 * time.Hour
	// mostPlans is how many plans are kept; the oldest are forgotten first.
	mostPlans = 50
	// digestDigits of a digest tell plans apart.
	digestDigits = 16
)

// Plan is a run that can be started by its id; the key of its record is plan/<run>.
type Plan struct {
	Run

	Found Found `json:"found"`
}

// Found is what a plan says, in short.
type Found struct {
	Events int64            `json:"events"` // in the range
	Send   map[string]int64 `json:"send"`   // that would be sent, by destination
	// Digest is the same for plans of the same offsets that say the same of them.
	Digest string `json:"digest"`
}

// planOf is what is kept of a forecast.
func planOf(f *Forecast) (*Plan, error) {
	text, err := json.Marshal([]any{f.Run.TopicID, f.Run.Ranges, f.Destinations})
	if err != nil {
		return nil, fmt.Errorf("encode what was planned: %w", err)
	}
	p := &Plan{Run: *f.Run, Found: Found{Events: f.Events, Send: make(map[string]int64), Digest: fmt.Sprintf("%x", sha256.Sum256(text))[:digestDigits]}}
	for _, id := range f.Run.Destinations {
		p.Found.Send[id] = f.Destinations[id].Send
	}
	return p, nil
}

// Keep has the run of a forecast be started by its id, within PlanLife. The forecast says so
// then.
func (o *Operator) Keep(ctx context.Context, f *Forecast, now time.Time) error {
	p, err := planOf(f)
	if err != nil {
		return err
	}
	book, err := o.Load(ctx)
	if err != nil {
		return err
	}
	rec, err := record(p, kindPlan, p.ID)
	if err != nil {
		return err
	}
	all := []*kgo.Record{rec}
	for _, id := range outdated(book.plans(), now) {
		all = append(all, &kgo.Record{Topic: schemas.TopicReplays, Key: []byte(kindPlan + "/" + id)})
	}
	if err = o.write(ctx, all...); err != nil {
		return err
	}
	f.ID, f.Digest = p.ID, p.Found.Digest
	return nil
}

// outdated are the ids of the plans that are to be forgotten where one more is kept: those
// that can't be started any more, and the oldest of too many.
func outdated(entries []*Entry, now time.Time) (ids []string) {
	var kept []string
	for _, e := range entries {
		if e.startable(now) != nil {
			ids = append(ids, e.Plan.ID)
		} else {
			kept = append(kept, e.Plan.ID)
		}
	}
	return append(ids, kept[:max(len(kept)-mostPlans+1, 0)]...)
}

// startable says why a plan can't be started, as far as its record tells.
func (e *Entry) startable(now time.Time) error {
	id := e.Plan.ID
	switch age := now.Sub(e.Plan.CreatedAt); {
	case e.Run.ID != "":
		return fmt.Errorf("plan %s was started already: `anabranch replay show %s` says how far it is; expected one that was not: plan once more", id, id)
	case age > PlanLife:
		return fmt.Errorf("plan %s was made %s ago: expected one of the last %s: plan once more", id, terminal.Brief(age), terminal.Brief(PlanLife))
	}
	return nil
}

// Planned returns a plan that can be started: nobody has yet, and the events and destinations
// that it was made for are still there.
func (o *Operator) Planned(ctx context.Context, id string, ws *workspace.Snapshot, now time.Time) (*Plan, error) {
	book, err := o.Load(ctx)
	if err != nil {
		return nil, err
	}
	e := book.Get(id)
	switch {
	case e == nil || e.Plan == nil && e.Run.ID == "":
		return nil, fmt.Errorf("no plan %q: expected the id that `anabranch replay plan` has printed within the last %s; of more than %d plans the oldest are forgotten", id, terminal.Brief(PlanLife), mostPlans)
	case e.Plan == nil:
		return nil, fmt.Errorf("%s is a replay: expected a plan, as `anabranch replay plan` makes it", id)
	}
	if err = e.startable(now); err != nil {
		return nil, err
	}
	if err = e.Plan.wanted(ws); err == nil {
		err = o.whole(ctx, &e.Plan.Run, ws)
	}
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w: plan once more", id, err)
	}
	return e.Plan, nil
}

// wanted fails where a destination of the plan can't be sent past events any more.
func (p *Plan) wanted(ws *workspace.Snapshot) error {
	able, err := meant(&p.Choice, ws)
	if err != nil {
		return err
	}
	gone := slices.DeleteFunc(slices.Clone(p.Destinations), func(id string) bool { return slices.Contains(able, id) })
	if len(gone) > 0 {
		return fmt.Errorf("the workspace does not have the destinations %s any more, or not for these events", strings.Join(gone, ", "))
	}
	return nil
}

// whole fails where events of a run were deleted since its range was resolved.
func (o *Operator) whole(ctx context.Context, run *Run, ws *workspace.Snapshot) error {
	if err := o.source(run, ws).open(ctx); err != nil || run.Archive != nil {
		return err // an archive has the same objects, or is another one
	}
	all, err := ranges.List(ctx, o.Topics.Client, schemas.TopicRawEvents, time.Time{})
	if err != nil {
		return err
	}
	if n := run.expired(all); n > 0 {
		return fmt.Errorf("retention has deleted %s of its %s events since", terminal.Count(n), terminal.Count(run.Events()))
	}
	return nil
}

// cut is on how many partitions the log, which holds all, has lost its beginning, where a run
// begins no later than what is left.
func (r *Run) cut(all map[int32]ranges.Range) (n int) {
	for num, o := range r.Ranges {
		if start := all[num].Start; start > 0 && o.From <= start {
			n++
		}
	}
	return n
}

// expired is how many offsets of a run the log has lost, which holds all.
func (r *Run) expired(all map[int32]ranges.Range) (n int64) {
	for num, o := range r.Ranges {
		n += max(min(all[num].Start, o.To)-o.From, 0)
	}
	return n
}
