package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// Told is a change that was told.
type Told struct {
	At      time.Time       `json:"at"` // when the truth changed
	UserID  string          `json:"user_id"`
	Key     string          `json:"key"`
	Kind    Kind            `json:"kind"`
	Value   json.RawMessage `json:"value"` // of an audience true or false
	Version int             `json:"version"`
	Cause   string          `json:"cause"`

	MessageID string `json:"message_id"`

	partition int32
	offset    int64
}

// History returns every change that was told of a key, or if there is no such definition,
// every one that was told of a user, the oldest first, as far as raw-events goes back. The
// error is an [Unknown] where neither the one nor the other is there. It needs memory for
// all that it returns.
func History(ctx context.Context, log *Log, name string, since time.Time) ([]Told, error) {
	_, unknown := log.Workspace.find(name)
	if unknown == nil {
		return log.told(ctx, nil, since, func(t *Told) bool { return t.Key == name })
	}
	n, err := log.partitions(ctx)
	if err != nil {
		return nil, err
	}
	of, err := log.told(ctx, []int32{home(name, n)}, since, func(t *Told) bool { return t.UserID == name })
	if err != nil || len(of) > 0 {
		return of, err
	}
	// A definition that was deleted was told of, and a user need not have been.
	if of, err = log.told(ctx, nil, since, func(t *Told) bool { return t.Key == name }); err != nil || len(of) > 0 {
		return of, err
	}
	c, err := log.Workspace.compile()
	if err != nil {
		return nil, err
	}
	if _, err := log.user(ctx, c, name); err != nil {
		return nil, bothUnknown(name, unknown, err)
	}
	return []Told{}, nil
}

func bothUnknown(name string, key, user error) error {
	var k, u *Unknown
	if !errors.As(key, &k) || !errors.As(user, &u) {
		return user
	}
	return &Unknown{"audience, computed trait or user", name, cmp.Or(k.Near, u.Near)}
}

func (l *Log) told(ctx context.Context, nums []int32, since time.Time, wanted func(*Told) bool) ([]Told, error) {
	of, err := l.rangesSince(ctx, schemas.TopicRawEvents, nums, since)
	if err != nil {
		return nil, err
	}
	all := []Told{}
	last := make(map[int32]Told) // by partition
	err = l.read(ctx, schemas.TopicRawEvents, of, func(rec *kgo.Record) error {
		t, ok, broken := toldBy(rec)
		if broken != nil || !ok {
			return broken
		}
		before := last[rec.Partition]
		last[rec.Partition] = t
		if !before.same(&t) && wanted(&t) {
			all = append(all, t)
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b Told) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.partition, b.partition), cmp.Compare(a.offset, b.offset))
	})
	return all, err
}

// same reports whether another call tells the same change, as one by identify and one by
// track do.
func (t *Told) same(o *Told) bool {
	return t.UserID == o.UserID && t.Key == o.Key && t.At.Equal(o.At) && t.Version == o.Version && string(t.Value) == string(o.Value)
}

// toldBy reads the change that a record of raw-events tells; false: it is another call.
func toldBy(rec *kgo.Record) (t Told, ok bool, err error) {
	h, err := kafka.HeadersOf(rec)
	if err != nil || h.Origin != schemas.OriginPersonas {
		return t, false, nil //nolint:nilerr // it is none of the stage's
	}
	var call struct {
		Traits     map[string]json.RawMessage `json:"traits"`
		Properties map[string]json.RawMessage `json:"properties"`
		Timestamp  time.Time                  `json:"timestamp"`
		Context    struct {
			Personas struct {
				Class   Kind   `json:"computation_class"`
				Key     string `json:"computation_key"`
				Version int    `json:"version"`
				Cause   string `json:"cause"`
			} `json:"personas"`
		} `json:"context"`
	}
	if err := json.Unmarshal(rec.Value, &call); err != nil {
		return t, false, fmt.Errorf("%s[%d]@%d: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	about := &call.Context.Personas
	value := call.Traits[about.Key]
	if h.Type == schemas.TypeTrack {
		value = call.Properties[about.Key]
	}
	return Told{
		At: call.Timestamp, UserID: string(rec.Key), Key: about.Key, Kind: about.Class, Value: value,
		Version: about.Version, Cause: about.Cause, MessageID: h.MessageID, partition: rec.Partition, offset: rec.Offset,
	}, about.Key != "", nil
}
