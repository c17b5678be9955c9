package wstopic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wsrecord"
	"github.com/anabranch/anabranch/schemas"
)

// PauseRole is what somebody must be allowed who pauses and resumes deliveries.
func PauseRole() acl.Role {
	return acl.Role{Name: "destinations pause", Does: "pauses and resumes deliveries", Rules: append(
		acl.Topic(schemas.TopicWorkspace, "knows destinations, and writes that one is paused", acl.Read, acl.Write),
		acl.Transactions(TransactionalIDs, "writes nothing over what another writes"),
	)}
}

// ErrPause says why the deliveries to a destination can't be paused or resumed.
var ErrPause = errors.New("deliveries can't be paused or resumed")

// Pause has every sink send nothing to a destination until [Publisher.Resume], by the word of
// a person. It returns the pause in force, which is an earlier one where it was paused
// already. A destination that is not known, or that can't be paused, is an [ErrPause].
func (p *Publisher) Pause(ctx context.Context, id, by string, now time.Time) (inForce workspace.Pause, err error) {
	err = p.publish(ctx, func(state *State) ([]*kgo.Record, error) {
		if wrong := pausable(state.Snapshot, id); wrong != nil {
			return nil, wrong
		}
		var paused bool
		if inForce, paused = state.Snapshot.Paused(id); paused {
			return nil, nil
		}
		inForce = workspace.Pause{By: by, Since: now.UTC().Truncate(time.Second)}
		return oneRecord(wsrecord.Pause(id, &inForce))
	})
	return inForce, err
}

// Resume ends a pause and returns it; false: there was none.
func (p *Publisher) Resume(ctx context.Context, id string) (ended workspace.Pause, was bool, err error) {
	err = p.publish(ctx, func(state *State) ([]*kgo.Record, error) {
		if wrong := pausable(state.Snapshot, id); wrong != nil {
			return nil, wrong
		}
		if ended, was = state.Snapshot.Paused(id); !was {
			return nil, nil
		}
		return oneRecord(wsrecord.Pause(id, nil))
	})
	return ended, was, err
}

func oneRecord(r *kgo.Record, err error) ([]*kgo.Record, error) { return []*kgo.Record{r}, err }

func pausable(s *workspace.Snapshot, id string) error {
	d, known := s.Destination(id)
	if !known {
		return fmt.Errorf("destination %s: %w: the workspace has none of that id", id, ErrPause)
	}
	if why := d.Unpausable(); why != "" {
		return fmt.Errorf("destination %s: %w: %s", id, ErrPause, why)
	}
	return nil
}
