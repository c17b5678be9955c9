package changelog

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
)

// Meta is how far a partition is. Its record is the last of each transaction that touched
// the partition. The zero Meta is that of one of which nothing is known.
type Meta struct {
	Raw      int64 // offset behind what was processed of raw-events
	Internal int64 // and of personas-internal
	// Time is the clock of the partition, in Unix milliseconds.
	Time int64
	// Catalogue names the definitions that were taken up, and Leaves are theirs. InForce are
	// the versions, by id, of those of which something is told: others are held until what
	// was due before them is told.
	Catalogue string
	Leaves    []engine.LeafID `json:",omitempty"`
	InForce   map[string]int  `json:",omitempty"`
	// Residue are leaves that definitions no longer need, of which records may still have
	// state: until a sweep has rewritten them all, no definition gets one.
	Residue []engine.LeafID `json:",omitempty"`
	Fills   []Fill          `json:",omitempty"`
	Sweep   *Sweep          `json:",omitempty"`
	// Resyncs are asked for by people, and are done one after the other.
	Resyncs []Resync `json:",omitempty"`
	// Idle says that nothing is defined: what was processed is where the group's offsets
	// say, and Raw and Internal are where they were once.
	Idle bool `json:",omitempty"`
	// Needed is the offset of the changelog before which nothing is needed, and Users how
	// many there were when it was found: where nobody compacts the topic, every user is
	// written again from time to time (Rewrite).
	Needed  int64    `json:",omitempty"`
	Users   int64    `json:",omitempty"`
	Rewrite *Rewrite `json:",omitempty"`
}

// Rewrite is a round in which each user is written again, in order: the next one is not
// before From, and so many Users have been. End is where the changelog ended when it began.
type Rewrite struct {
	From  []byte `json:",omitempty"`
	End   int64
	Users int64
}

// Fill is a part of raw-events that leaves are still to be filled from: from Next up to
// Cut, Cut excluded. From there on live calls count for them. When all is read, it waits for
// the other partitions, which may pass on calls of users who are this partition's by now.
type Fill struct {
	Leaves    []engine.LeafID
	Since     int64 // Unix milliseconds: calls taken in before do not matter; 0: all do
	From      int64 // where it began; -1: not looked up yet
	Next, Cut int64
	// Heard are the partitions that have passed on all, and Asked is when the others were
	// asked last, by the clock of the partition, in Unix milliseconds.
	Heard []int32 `json:",omitempty"`
	Asked int64   `json:",omitempty"`
}

// Read reports whether all of raw-events was read that it is of.
func (f *Fill) Read() bool { return f.Next >= f.Cut }

// Sweep is a look at each user of the partition, in order: the next one is not before
// From.
type Sweep struct{ From []byte }

// Resync tells one destination once more of all members, or of all values of a computed
// trait, in the order of the users. Those that have ended stay for a while.
type Resync struct {
	ID, Key, Destination string
	// Rate is how many users of the partition are told a second, and Paid the clock of the
	// partition up to which they were, in Unix microseconds.
	Rate, Paid int64
	// Began is when it was taken up, by the clock of the partition, in Unix milliseconds: who
	// became a member later was told so as everybody is.
	Began int64
	From  []byte // the next user is not before it
	Told  int64  // users so far
	State ResyncState
}

// ResyncState is how far a resync is.
type ResyncState string

// The states.
const (
	Resyncing ResyncState = "running"
	Resynced  ResyncState = "done"
	Cancelled ResyncState = "cancelled" // it goes on where it was if it is asked for again
)

// Clone returns a copy that can be changed alone.
func (m *Meta) Clone() Meta {
	c := *m
	c.Fills, c.Resyncs = slices.Clone(m.Fills), slices.Clone(m.Resyncs)
	if m.Sweep != nil {
		sweep := *m.Sweep
		c.Sweep = &sweep
	}
	return c
}

// Clock is the partition's clock; zero: it has not ticked yet.
func (m *Meta) Clock() time.Time {
	if m.Time == 0 {
		return time.Time{}
	}
	return time.UnixMilli(m.Time).UTC()
}

// Ready reports whether a leaf has all that it is to have.
func (m *Meta) Ready(leaf engine.LeafID) bool {
	for i := range m.Fills {
		if slices.Contains(m.Fills[i].Leaves, leaf) {
			return false
		}
	}
	return true
}

// metaKey is the key of the record of a Meta. No user has it: see [Reserved].
const metaKey = "\x00meta"

// Reserved reports whether an id is not one that a user can have.
func Reserved(user string) bool { return user == metaKey }

// Record returns the record of a Meta.
func (m *Meta) Record(partition int32) *kgo.Record {
	return &kgo.Record{Topic: schemas.TopicPersonasChangelog, Partition: partition, Key: []byte(metaKey), Value: encode(m)}
}

// User returns the record of a user's state.
func User(partition int32, user string, state []byte) *kgo.Record {
	return &kgo.Record{Topic: schemas.TopicPersonasChangelog, Partition: partition, Key: []byte(user), Value: state}
}

// Checkpoint is a Meta, and where the changelog goes on behind it.
type Checkpoint struct {
	Meta

	Of   string // the id of the topic; empty: not known
	Next int64
}

// Encode returns the checkpoint as a store keeps it.
func (c *Checkpoint) Encode() []byte { return encode(c) }

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers alone
	}
	return text
}

// Decode reads a [Meta] or a [Checkpoint].
func Decode(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read how far a partition of %s is: %w", schemas.TopicPersonasChangelog, err)
	}
	return nil
}
