package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
)

// Glance is what the journal alone says of a while: how the calls ended that the router has
// decided on. OnTheWay are those that it does not tell the end of. They wait, or are missing:
// only an audit tells which.
type Glance struct {
	From        time.Time `json:"from"`
	To          time.Time `json:"to"`
	Accepted    int64     `json:"accepted"`
	Delivered   int64     `json:"delivered"`
	Filtered    int64     `json:"filtered"`
	Duplicate   int64     `json:"duplicate"`
	Unconnected int64     `json:"unconnected"`
	Dead        int64     `json:"dead"`
	OnTheWay    int64     `json:"onTheWay"`
	Complete    bool      `json:"complete"` // false: time or the bound ended the look
	// Missing is how many more are on the way than wait anywhere: at least so many are
	// missing.
	Missing int64 `json:"missing"`
}

// String is the equation, with all its terms.
func (g *Glance) String() string {
	count := terminal.Count
	return fmt.Sprintf("%s accepted = %s delivered + %s filtered + %s duplicate + %s unconnected + %s dead + %s on their way",
		count(g.Accepted), count(g.Delivered), count(g.Filtered), count(g.Duplicate), count(g.Unconnected), count(g.Dead), count(g.OnTheWay))
}

// Doubt says what is wrong with the equation, or that it is not about all; empty: nothing.
func (g *Glance) Doubt() string {
	switch {
	case g.Missing > 0:
		return "at least " + terminal.Count(g.Missing) + " of those wait nowhere: `anabranch audit` names them"
	case !g.Complete:
		return "of the part that was read at a glance: `anabranch audit` reads all of it"
	}
	return ""
}

// glanceRecords bounds what is read of each partition of the journal.
const glanceRecords = 1000

// Look reads a bounded part of the journal, for as long as within. The glance is nil where
// nothing is journalled.
func Look(ctx context.Context, opts []kgo.Opt, admin *topics.Admin, from, to time.Time, within time.Duration) (*Glance, error) {
	timed, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	a := &audit{Settings: Settings{Kafka: opts, Topics: admin, From: from, To: to, Retention: to.Sub(from) * 2}, now: to}
	prints, err := journal.FindPrints(timed, admin)
	if err != nil {
		return nil, err
	}
	a.ledger = newLedger(Selection{}, prints.KeyID(), make(map[int32]*calls))
	a.ledger.lettersCut = true // they are not looked at
	defer a.ledger.piles.Close()
	if err = a.lookAtCalls(timed, nil); err != nil {
		return nil, err
	}
	held, err := ranges.List(timed, admin.Client, schemas.TopicJournal, from)
	if err != nil || len(held) == 0 {
		return nil, err
	}
	spans := ranges.Spans(schemas.TopicJournal, held)
	err = ranges.Read(timed, opts, spans, ranges.Limits{PerSpan: glanceRecords}, func(_ *ranges.Span, rec *kgo.Record) error {
		r, decodeErr := format.Decode(rec.Key, rec.Value)
		if decodeErr != nil {
			return decodeErr
		}
		return a.ledger.record(r)
	})
	outOfTime := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if err != nil && !outOfTime {
		return nil, err
	}
	g := &Glance{From: from, To: to, Complete: err == nil}
	for _, s := range spans {
		g.Complete = g.Complete && s.Done()
	}
	return g, g.sum(a.ledger)
}

// sum takes what a ledger comes to.
func (g *Glance) sum(l *ledger) error {
	if err := l.balance(); err != nil {
		return err
	}
	for _, r := range l.rows {
		g.Accepted += r.Accepted
		g.Delivered += r.Delivered
		g.Filtered += r.Filtered
		g.Duplicate += r.Duplicate
		g.Unconnected += r.Unconnected
		g.Dead += r.Dead
		g.OnTheWay += r.Missing
	}
	return nil
}
