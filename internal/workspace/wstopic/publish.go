package wstopic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wsseal"
	"github.com/anabranch/anabranch/schemas"
)

const (
	firstPause   = 100 * time.Millisecond
	longestPause = 2 * time.Second
)

// Publisher writes workspaces to the topic. What it publishes replaces all
// that was there, in one transaction of the difference alone: a reader sees
// either the old or the new workspace, also when the publisher dies half-way.
//
// Several may publish at once. Each writes what differs from the state it has
// read, and commits only if nothing was written in between; if something was,
// it starts over.
type Publisher struct {
	// Kafka holds what every client of the process shares.
	Kafka []kgo.Opt
	// Keys seal the secrets of destinations. Nil: they are written in the clear.
	Keys *wsseal.Ring
	// Clear says that secrets are to be written in the clear even so, for an earlier
	// release, which reads no others.
	Clear bool

	// By is who applies workspaces, for those who look at their history; empty: not known.
	By string

	// Ensure creates topics that are missing and returns when they can be
	// written to. It is called for the topic of the workspace, and for those of
	// all destinations before a record names them: a router that hears of a
	// destination without a topic would fail the transaction in hand. Exports say what is
	// wanted of those among them that others read.
	Ensure func(ctx context.Context, exports map[string]schemas.Export, topics ...string) error
}

// Apply puts a workspace in force, visible to whoever reads from then on, and
// returns what changed. It tries until ctx ends. After an error the workspace
// may be in force all the same, when the answer to the commit was lost; applying
// it again is harmless. Over records of a later release nothing is written.
func (p *Publisher) Apply(ctx context.Context, next *workspace.Snapshot) ([]workspace.Change, error) {
	return p.put(ctx, next, true, func(*State) error { return nil })
}

// ErrChanged says that a workspace was not put in force, since another one is than was read.
var ErrChanged = errors.New("the workspace in force has changed since it was compared with this one, and nothing was written")

// ApplyAt is Apply over the state of an end alone (see [State.End]): over any other nothing is
// written, and the error is an [ErrChanged].
func (p *Publisher) ApplyAt(ctx context.Context, end int64, next *workspace.Snapshot) ([]workspace.Change, error) {
	return p.put(ctx, next, true, func(s *State) error {
		if s.end != end {
			return ErrChanged
		}
		return nil
	})
}

// Seed puts a workspace in force as Apply does, unless people have ever applied
// one. It does not count as applied by people itself, so that a later version
// can bring another example.
func (p *Publisher) Seed(ctx context.Context, example *workspace.Snapshot) ([]workspace.Change, error) {
	return p.put(ctx, example, false, func(*State) error { return nil })
}

// errOvertaken says that something was written since the state was read.
var errOvertaken = errors.New("another publisher changed the workspace first")

// put has a workspace take the place of the one that is there, if that one is as it has to be.
func (p *Publisher) put(ctx context.Context, next *workspace.Snapshot, byPeople bool, check func(*State) error) (changes []workspace.Change, err error) {
	err = p.publish(ctx, func(state *State) (records []*kgo.Record, err error) {
		if err = check(state); err != nil {
			return nil, err
		}
		changes, records, err = p.towards(ctx, state, next, byPeople)
		return records, err
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// publish writes what is to be written over the state that the topic has. It asks again
// where another publisher was first.
func (p *Publisher) publish(ctx context.Context, over func(*State) ([]*kgo.Record, error)) error {
	if err := p.Ensure(ctx, nil, schemas.TopicWorkspace); err != nil {
		return fmt.Errorf("publish workspace: %w", err)
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := p.attempt(ctx, over)
		if err == nil {
			return nil
		}
		if !errors.Is(err, errOvertaken) {
			return fmt.Errorf("publish workspace: %w", err)
		}
		if !waiting.Sleep(ctx, pause) {
			return fmt.Errorf("publish workspace: %w: %w", context.Cause(ctx), err)
		}
	}
}

func (p *Publisher) attempt(ctx context.Context, over func(*State) ([]*kgo.Record, error)) error {
	state, err := Read(ctx, p.Kafka)
	if err != nil {
		return err
	}
	records, err := over(&state)
	if err != nil || len(records) == 0 {
		return err
	}
	return p.commit(ctx, records, state.end)
}

// towards returns what differs between a state and the next workspace, and the records that
// make it so.
func (p *Publisher) towards(ctx context.Context, state *State, next *workspace.Snapshot, byPeople bool) ([]workspace.Change, []*kgo.Record, error) {
	if !byPeople && !state.empty() {
		return nil, nil, nil
	}
	if state.writable != nil {
		return nil, nil, state.writable
	}
	if err := next.Succeeds(state.Snapshot, state.Applied); err != nil {
		return nil, nil, err
	}
	changes, sealed, err := state.Changes(next, p.Keys, p.Clear)
	if err != nil {
		return nil, nil, err
	}
	// All destinations, not the new ones alone: a topic that somebody deleted
	// comes back with the next apply.
	if err = p.Ensure(ctx, next.Exports(), next.Topics()...); err != nil {
		return nil, nil, err
	}
	records, err := state.table.Encode(changes, sealed)
	if err != nil {
		return nil, nil, err
	}
	records = append(records, state.table.Unpause(next)...)
	if byPeople && (!state.Applied || len(changes) > 0) {
		noted, err := state.table.Note(time.Now(), p.By, changes)
		if err != nil {
			return nil, nil, err
		}
		records = append(records, noted)
	}
	return changes, records, nil
}
