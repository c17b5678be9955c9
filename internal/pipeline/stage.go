package pipeline

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Stage is one stage, as far as others have to know it.
type Stage struct {
	// Name is the target: `anabranch NAME`, and the word in logs and reports. The
	// variables of its settings begin with [Stage.Variables].
	Name string
	// Does is a clause for lists, as in "routes calls to destinations", and Help the
	// sentences that `anabranch help NAME` prints, in lines of at most 96 characters.
	Does, Help string
	// Topics are those that it works with, and for what.
	Topics []Topic
	// Group is its consumer group; without a name for a stage that reads calls from
	// elsewhere.
	Group Group
	// Watches is the group of another stage that it asks how far it is; without a name for
	// none.
	Watches Watch
	// Transactions are those that it writes in; without a prefix for one that does not.
	Transactions Transactions
	// Users is true for a stage that has to know of single users: who is suppressed,
	// and whose data is to be deleted.
	Users bool
	// Serves is the type of the destinations that it works for, where it works for those of
	// one type alone: a workspace without any needs no process of it, see [Stage.Rests].
	Serves string
	// Secrets is true for a stage that has to know the secrets of destinations.
	Secrets bool
	// Pages are those that it has on the admin address beside everybody's.
	Pages []telemetry.Page
	// Config points to its settings, a struct with tags of package env, which are read
	// from the environment before Facts and New are called.
	Config Config
	// Facts are what others ask of the settings. Nil: nothing.
	Facts func() Facts
	// New makes the stage for a process. Nothing of it runs yet.
	New func(*Process) (*Made, error)
}

// Config is what an operator may set. Validate reports every setting that cannot
// work, each with the variable, the value and what was expected.
type Config interface{ Validate() error }

// Topic is a topic that a stage works with, or all whose names begin alike.
type Topic struct {
	Name string // or one of the prefixes of package schemas
	// Read and Write say what the stage does there; neither: it looks at it. What is missing it creates, and it
	// compares the settings of what exists.
	Read, Write bool
	// Found is true of topics that come and go as others need them: who only reads them
	// creates none.
	Found bool
	// Journal is true of what is needed only where a journal is written.
	Journal bool
	// Why is a clause, as in "stores what it can't route".
	Why string
	// Consumed is what its consumer group does with the records, which it reads for that;
	// zero: the group does not read them.
	Consumed Verb
}

// Verb is what becomes of a record, as in "1,204 events to route" and "before they
// were routed".
type Verb struct{ To, Done string }

// Prefixed reports whether Name is how names begin.
func (t Topic) Prefixed() bool { return strings.HasSuffix(t.Name, ".") }

// Has reports whether a topic is meant. Names under one of our prefixes that are none
// of ours are not.
func (t Topic) Has(topic string) bool {
	if t.Prefixed() {
		return schemas.PrefixOf(topic) == t.Name
	}
	return topic == t.Name
}

// Group is the consumer group of a stage.
type Group struct {
	Name string
	// Copy is the group that keeps a copy of the offsets, if there is one.
	Copy Copy
	// Forgotten says what a stage does whose offsets the brokers have deleted, as in
	// "would deliver again what it had finished".
	Forgotten string
	// Finished reads the metadata of a commit: which records are done with beyond the
	// committed offset. Nil: none is known to be.
	Finished func(committed int64, metadata string) func(*kgo.Record) bool
	// Busy reads there, too, how many keys are set aside since each has more events than
	// its receiver takes one at a time, and about how many wait. Nil: none is known.
	Busy func(committed int64, metadata string) (keys int, events int64)
}

// Watch is a group that is asked how far it is. Why is as in [acl.Rule].
type Watch struct{ Group, Why string }

// Copy is a group that nobody is in, for offsets on raw-events that brokers are asked to
// keep for ever. Why and Without are as in [acl.Rule].
type Copy struct{ Group, Why, Without string }

// Transactions are those whose transactional ids begin with Prefix.
type Transactions struct{ Prefix, Why string }

// Facts are what a stage's settings come to, as far as others ask. Zero values say
// that there is no such thing.
type Facts struct {
	// Topics are those of its prefixes that it needs whatever the workspace says.
	Topics []string
	// Remembered is how long a call is known, so that a copy of it is recognised.
	Remembered time.Duration
	// Window is how long an event is retried.
	Window time.Duration
	// Connections and Attempts are how many clients there may be at a time, and how many
	// deliveries in flight.
	Connections, Attempts int
	// Permit is the guard of addresses that endpoints may live at, or as one of the
	// peers.
	Permit func(peers ...netip.AddrPort) func(netip.AddrPort) error
}

// Known returns the facts of a stage, zero when it tells none.
func (s *Stage) Known() Facts {
	if s.Facts == nil {
		return Facts{}
	}
	return s.Facts()
}

// Consumed returns those of some topics that its group reads.
func (s *Stage) Consumed(topics []string) []string {
	return slices.DeleteFunc(slices.Clone(topics), func(topic string) bool { return !s.consumes(topic) })
}

func (s *Stage) consumes(topic string) bool {
	return slices.ContainsFunc(s.Topics, func(t Topic) bool { return t.Consumed != (Verb{}) && t.Has(topic) })
}

// Shared returns the topics of fixed name that its group reads: what others may read
// too.
func (s *Stage) Shared() []Topic {
	return slices.DeleteFunc(Stages{s}.Consumed(), Topic.Prefixed)
}

// Rests reports whether there is nothing to do for the stage in a workspace, so that nobody
// has to run it.
func (s *Stage) Rests(ws *workspace.Snapshot) bool {
	return s.Serves != "" && len(ws.DestinationsOf(s.Serves)) == 0
}

// Transactional reports whether the offsets of its group are committed in its
// transactions: they are pending while one is open.
func (s *Stage) Transactional() bool {
	return s.Group.Name != "" && s.Transactions.Prefix != ""
}

// Variables begins the names of its settings: WEBHOOK_SINK_ for webhook-sink.
func (s *Stage) Variables() string {
	return strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_")) + "_"
}
