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

// Span says which changes are wanted.
type Span struct {
	Since time.Time // those on calls that were taken in then or later; zero: all
	// Newest is how many of them, the last ones; 0: all.
	Newest int
}

// History returns every change that was told of a key, or if there is no such definition,
// every one that was told of a user, the oldest first, as far as raw-events goes back, and how
// many there are. The error is an [Unknown] where neither the one nor the other is there. It
// needs memory for about twice what it returns.
func History(ctx context.Context, log *Log, name string, span Span) (told []Told, found int64, err error) {
	ofKey := func(t *Told) bool { return t.Key == name }
	_, unknown := log.Workspace.find(name)
	if unknown == nil {
		return log.told(ctx, nil, span, ofKey)
	}
	n, err := log.partitions(ctx)
	if err != nil {
		return nil, 0, err
	}
	told, found, err = log.told(ctx, []int32{home(name, n)}, span, func(t *Told) bool { return t.UserID == name })
	if err != nil || found > 0 {
		return told, found, err
	}
	// A definition that was deleted was told of, and a user need not have been.
	if told, found, err = log.told(ctx, nil, span, ofKey); err != nil || found > 0 {
		return told, found, err
	}
	c, err := log.Workspace.compile()
	if err != nil {
		return nil, 0, err
	}
	if _, err := log.user(ctx, c, name); err != nil {
		return nil, 0, bothUnknown(name, unknown, err)
	}
	return []Told{}, 0, nil
}

func bothUnknown(name string, key, user error) error {
	var k, u *Unknown
	if !errors.As(key, &k) || !errors.As(user, &u) {
		return user
	}
	return &Unknown{"audience, computed trait or user", name, cmp.Or(k.Near, u.Near)}
}

// told returns the changes of some partitions that are wanted, nil: of all, and how many
// there are.
func (l *Log) told(ctx context.Context, nums []int32, span Span, wanted func(*Told) bool) ([]Told, int64, error) {
	of, err := l.rangesSince(ctx, schemas.TopicRawEvents, nums, span.Since)
	if err != nil {
		return nil, 0, err
	}
	last := make(map[int32]Told) // by partition
	kept := latest{most: span.Newest, told: []Told{}}
	err = l.read(ctx, schemas.TopicRawEvents, of, func(rec *kgo.Record) error {
		t, ok, broken := toldBy(rec)
		if broken != nil || !ok {
			return broken
		}
		before := last[rec.Partition]
		last[rec.Partition] = t
		if !before.same(&t) && wanted(&t) {
			kept.take(&t)
		}
		return nil
	})
	kept.trim()
	return kept.told, kept.found, err
}

// latest keeps those changes that were told last, whatever the order in which it is told of
// them.
type latest struct {
	most  int // 0: all
	found int64
	told  []Told
}

func (l *latest) take(t *Told) {
	l.found++
	if l.told = append(l.told, *t); l.most > 0 && len(l.told) >= 2*l.most {
		l.trim()
	}
}

// trim leaves the latest, the oldest of them first.
func (l *latest) trim() {
	slices.SortStableFunc(l.told, func(a, b Told) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.partition, b.partition), cmp.Compare(a.offset, b.offset))
	})
	if more := len(l.told) - l.most; l.most > 0 && more > 0 {
		l.told = slices.Delete(l.told, 0, more)
	}
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
