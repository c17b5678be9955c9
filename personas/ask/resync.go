package ask

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/message"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// MaxRate bounds how many users a resync tells a second: it is for a receiver to bear.
	MaxRate = 10_000

	lookEvery = time.Second
	// sendTime bounds how long asking for a resync may take, and for its end.
	sendTime = 5 * time.Second
)

// Resyncing says what a destination is to be told once more.
type Resyncing struct {
	Key, Destination string
	Rate             int  // users a second, 1 to MaxRate
	DryRun           bool // only say how many there are
}

// Resynced is how far a resync is.
type Resynced struct {
	Key         string `json:"key"`
	Destination string `json:"destination"`
	// Members is how many had to be told when it was looked, and Told how many were.
	Members int64 `json:"members"`
	Told    int64 `json:"told"`
	Done    bool  `json:"done"`
	// Taken is how many of the partitions know of it.
	Taken      int `json:"-"`
	Partitions int `json:"-"`
}

// resync is one that this process watches.
type resync struct {
	*Log
	Resyncing

	id    string
	read  map[int32]int64 // up to where the changelog was
	parts map[int32]changelog.Resync
	Resynced
}

// Resync has the stage tell a destination of all members of an audience, or of all values
// of a computed trait, as they were told before: each once, in the transactions in which
// the stage tells changes too. It goes on without this process. One of the same key and
// destination that has not ended goes on; so does one that was cancelled.
//
// It returns when all are told, and calls progress about once a second. When ctx ends it
// cancels the resync, and returns how far it is with an error.
func Resync(ctx context.Context, log *Log, r Resyncing, progress func(*Resynced)) (*Resynced, error) {
	d, err := log.Workspace.find(r.Key)
	if err != nil {
		return nil, err
	}
	if err := log.Workspace.tells(d, r.Destination); err != nil {
		return nil, err
	}
	run := &resync{Log: &Log{Kafka: log.Kafka, Topics: log.Topics}, Resyncing: r, Resynced: Resynced{Key: r.Key, Destination: r.Destination}}
	if err := run.plan(ctx, log, d); err != nil || r.DryRun {
		return &run.Resynced, err
	}
	if err := run.send(ctx, false); err != nil {
		return nil, err
	}
	for !run.Done {
		if !waiting.Sleep(ctx, lookEvery) {
			return &run.Resynced, run.cancel(ctx)
		}
		if err := run.look(ctx); err != nil && ctx.Err() == nil {
			return &run.Resynced, fmt.Errorf("%w; it goes on without this command, and the same one shows how far it is", err)
		}
		progress(&run.Resynced)
	}
	return &run.Resynced, nil
}

// tells returns why a destination is told nothing of a definition.
func (w *Workspace) tells(d *Definition, destination string) error {
	connected, there := w.connected[destination]
	switch {
	case !there:
		near := nearestTo(destination)
		for id := range w.connected {
			near.try(id)
		}
		return &Unknown{"destination", destination, near.near}
	case !connected:
		return fmt.Errorf("destination %s is told nothing of audiences and traits: expected personas among its sources, and it to be enabled", destination)
	case len(d.Destinations) > 0 && !slices.Contains(d.Destinations, destination):
		return fmt.Errorf("destination %s is told nothing of %s: expected it among the definition's destinations", destination, d.ID)
	case !d.Enabled:
		return fmt.Errorf("%s is disabled: nothing is told of it", d.ID)
	}
	return nil
}

// plan counts who has to be told, and finds the resync that goes on.
func (r *resync) plan(ctx context.Context, log *Log, d *Definition) error {
	of, err := log.ranges(ctx, schemas.TopicPersonasChangelog, nil)
	if err != nil {
		return err
	}
	r.read, r.parts = make(map[int32]int64, len(of)), make(map[int32]changelog.Resync)
	for num, at := range of {
		r.read[num] = at.End
	}
	c, err := engine.Compile(engine.Definitions{})
	if err != nil {
		return err
	}
	t := newTally([]Definition{*d}, time.Now())
	places, err := log.state(ctx, nil, func(_ int32, user, record []byte) error {
		p, broken := c.Decode(record)
		if broken == nil {
			t.take(user, p)
		}
		return broken
	})
	if err != nil {
		return err
	}
	var s Summary
	t.count(0, &s)
	r.Members, r.Partitions = s.Size, len(places)
	if r.Partitions == 0 {
		return errors.New("personas has never run: nobody was told anything")
	}
	for _, p := range places {
		for i := range p.Resyncs {
			if was := &p.Resyncs[i]; was.Key == r.Resyncing.Key && was.Destination == r.Resyncing.Destination && was.State != changelog.Resynced {
				r.id = was.ID
			}
		}
	}
	if r.id == "" {
		r.id = rand.Text()
	}
	for num, p := range places {
		r.follow(num, &p.Meta)
	}
	r.sum()
	return nil
}

// follow takes in how far a partition is.
func (r *resync) follow(num int32, m *changelog.Meta) {
	for i := range m.Resyncs {
		if m.Resyncs[i].ID == r.id {
			r.parts[num] = m.Resyncs[i]
		}
	}
}

func (r *resync) sum() {
	r.Told, r.Taken = 0, len(r.parts)
	done := 0
	for num := range r.parts {
		p := r.parts[num]
		r.Told += p.Told
		if p.State == changelog.Resynced {
			done++
		}
	}
	r.Done = done == r.Partitions
}

// look reads what the partitions have written since the last look.
func (r *resync) look(ctx context.Context) error {
	of, err := r.ranges(ctx, schemas.TopicPersonasChangelog, nil)
	if err != nil {
		return err
	}
	next := make(map[int32]ranges.Range, len(of))
	for num, at := range of {
		next[num] = ranges.Range{Start: max(r.read[num], at.Start), End: at.End}
	}
	err = r.Log.read(ctx, schemas.TopicPersonasChangelog, next, func(rec *kgo.Record) error {
		if !changelog.Reserved(string(rec.Key)) {
			return nil
		}
		var m changelog.Meta
		broken := changelog.Decode(rec.Value, &m)
		r.follow(rec.Partition, &m)
		return broken
	})
	if err != nil {
		return err
	}
	for num, at := range next {
		r.read[num] = at.End
	}
	r.sum()
	return nil
}

// send asks each partition for the resync, or for its end.
func (r *resync) send(ctx context.Context, cancel bool) error {
	cl, err := kgo.NewClient(slices.Concat(r.Kafka, []kgo.Opt{kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0)})...)
	if err != nil {
		return fmt.Errorf("create the client of a resync: %w", err)
	}
	defer cl.Close()
	ctx, done := context.WithTimeout(ctx, sendTime)
	defer done()
	m := message.Message{Kind: message.Resync, Resync: &message.Resyncing{
		ID: r.id, Key: r.Resyncing.Key, Destination: r.Resyncing.Destination, Cancel: cancel,
		Rate: int64((r.Rate + r.Partitions - 1) / r.Partitions),
	}}
	records := make([]*kgo.Record, r.Partitions)
	for num := range records {
		records[num] = m.Record(int32(num), "")
	}
	if err := cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("ask for the resync: %w; the same command tries again", err)
	}
	return nil
}

// cancel stops the resync when the command is told to.
func (r *resync) cancel(ctx context.Context) error {
	err := errors.New("cancelled: the same command goes on where it was")
	if failed := r.send(context.WithoutCancel(ctx), true); failed != nil {
		err = fmt.Errorf("it was not cancelled and goes on: %w", failed)
	}
	return err
}
