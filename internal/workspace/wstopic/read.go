package wstopic

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wsrecord"
	"github.com/anabranch/anabranch/schemas"
)

// State is what the topic says at one moment.
type State struct {
	Snapshot *workspace.Snapshot
	Applied  bool // people have applied a workspace, whatever is left of it

	table    *wsrecord.Table
	writable error // why an earlier release than the one that wrote it must not write to it
	end      int64 // offset at which the next record would stand
}

// End is the offset at which the next record would stand: two states of one end are the same.
func (s *State) End() int64 { return s.end }

// History are the applications of workspaces that are kept, the last one first.
func (s *State) History() []workspace.Application { return s.table.History() }

// Holdings are what is in force, and when and by whom each was last changed.
func (s *State) Holdings() []workspace.Holding { return s.table.Holdings() }

// empty tells whether an example does no harm: nobody has put anything there.
func (s *State) empty() bool { return !s.Applied && s.writable == nil }

// Read returns the present state. A topic that does not exist yet says nothing,
// and neither do records that can't be read; a [Follower] reports those. opts
// are what every client of the process shares.
func Read(ctx context.Context, opts []kgo.Opt) (State, error) { return ReadWith(ctx, opts, nil) }

// ReadWith is Read, and hands over what earlier releases wrote to the topic about single
// users.
func ReadWith(ctx context.Context, opts []kgo.Opt, former Regulations) (State, error) {
	t, err := newTail(opts, schemas.TopicWorkspace)
	if err != nil {
		return State{}, err
	}
	defer t.cl.Close()
	if err = t.readUp(ctx, former); err != nil {
		return State{}, err
	}
	return State{Snapshot: t.Snapshot(), Applied: t.Applied, table: t.Table, writable: t.CheckWritable(), end: t.end}, nil
}

// ReadRegulations hands over what the topic `regulations` says about single users. One
// that does not exist yet says nothing.
func ReadRegulations(ctx context.Context, opts []kgo.Opt, users Regulations) error {
	t, err := newTail(opts, schemas.TopicRegulations)
	if err != nil {
		return err
	}
	defer t.cl.Close()
	return t.readUp(ctx, users)
}

// readUp reads up to the end that the topic has now.
func (t *tail) readUp(ctx context.Context, users Regulations) error {
	if users != nil {
		t.users = users.Apply
	}
	err := t.start(ctx)
	if err != nil && !errors.Is(err, kerr.UnknownTopicOrPartition) {
		return err
	}
	for !t.settled() {
		err = t.poll(ctx, func(error) {})
		switch {
		case errors.Is(err, kerr.TopicAuthorizationFailed):
			return err
		case ctx.Err() != nil:
			// Other errors of the client are not final: it goes on by itself, and ctx
			// bounds how long that may take.
			return fmt.Errorf("read %s to its end: %w", t.topic, errors.Join(context.Cause(ctx), err))
		}
	}
	return nil
}
