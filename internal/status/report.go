package status

import (
	"time"

	"github.com/anabranch/anabranch/internal/audit"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/schemas"
)

// Report is what is known at one moment. Its JSON is for programs: names stay, and
// what is added later is added to the end. Times are RFC 3339 in UTC, slices are
// never null.
type Report struct {
	At           time.Time     `json:"at"`
	Brokers      []string      `json:"brokers"`
	Stages       []Stage       `json:"stages"`
	Unrouted     Backlog       `json:"unrouted"`     // accepted calls that no router has read: of Stages
	Destinations []Destination `json:"destinations"` // ascending by id
	Retries      []Retry       `json:"retries"`      // ascending by delay
	DeadLetters  DeadLetters   `json:"deadLetters"`
	// Incomplete names the topics of which not all was read, for its size or for
	// want of time.
	Incomplete []string `json:"incomplete"`
	Advice     []Advice `json:"advice"`
	// UnroutedDeleted and UnroutedPending are of what the router has not read, too.
	UnroutedDeleted int64   `json:"unroutedDeleted"`
	UnroutedPending []int32 `json:"unroutedPending"`
	// LastHour is what the journal says of it; null: nothing is journalled.
	LastHour *audit.Glance `json:"lastHour"`
	// Replays are those that are not over, the first made first.
	Replays []Replay `json:"replays"`
	// Imports are those that were begun or ended lately, the first begun first.
	Imports []Import `json:"imports"`
}

// Stage is a stage that reads from the brokers, as its consumer group shows it.
// Ingest reads nothing there, so only its /readyz tells of it.
type Stage struct {
	Name    string   `json:"name"`
	Group   string   `json:"group"`
	State   string   `json:"state"` // as the brokers say it; empty: there is no such group
	Members []Member `json:"members"`
	// Unread is what it has not finished of the topics of fixed name that it reads. What
	// waits on those of destinations and of retries is told by destination.
	Unread []Unread `json:"unread"`
}

// Unread is what a stage has not finished of a topic.
type Unread struct {
	Topic   string  `json:"topic"`
	Waiting Backlog `json:"waiting"`
	Deleted int64   `json:"deleted"` // offsets that retention deleted before they were read
	// Pending are the partitions whose offset has been pending in one transaction for as
	// long as this look took.
	Pending []int32 `json:"pending"`

	verb pipeline.Verb
}

// Member is one process of a stage.
type Member struct {
	Instance   string         `json:"instance"` // INSTANCE_ID with the stage before it; empty for a dynamic member
	ID         string         `json:"id"`
	Client     string         `json:"client"`
	Host       string         `json:"host"`
	Partitions map[string]int `json:"partitions"` // how many of "raw-events", "deliver", "webhook-retry"
}

// Backlog is what waits somewhere.
type Backlog struct {
	Events int64      `json:"events"`
	Bound  Bound      `json:"bound"`
	Oldest *time.Time `json:"oldest"` // when the oldest of the calls was taken in, as far as was read; null: nothing waits
}

// Bound says how a number is to be read.
type Bound string

// The bounds.
const (
	Exact   Bound = "exact"
	AtMost  Bound = "at most"  // counted by offsets, of which some are no events
	AtLeast Bound = "at least" // not all was read
)

// Destination is one receiver of calls.
type Destination struct {
	ID           string     `json:"id"`
	State        State      `json:"state"`
	Undelivered  Backlog    `json:"undelivered"`  // on its own topic
	Retrying     Backlog    `json:"retrying"`     // on the retry topics
	Withheld     int64      `json:"withheld"`     // of those, kept back since all endpoints were known to be down
	FailingSince *time.Time `json:"failingSince"` // when the first of those failed for the first time; null: none waits
	Failures     []Failure  `json:"failures"`     // what those failed of, the most frequent first
	Endpoints    []Endpoint `json:"endpoints"`    // those to which retries are to go
	Deleted      int64      `json:"deleted"`      // offsets that retention deleted before they were delivered
	// Busy are the partitions of its topic on which users have more events than the
	// receiver takes one at a time, ascending.
	Busy []BusyPartition `json:"busy"`
	// Replaying is what replays have sent and is not finished. It waits behind live events,
	// and while the destination is down; it is counted by offsets, so nobody knows how old it is.
	Replaying       Backlog `json:"replaying"`
	ReplayedDeleted int64   `json:"replayedDeleted"` // of those, offsets that retention deleted before
	Type            string  `json:"type"`            // webhooks, topic or archive; of one that was removed archive, or empty
	// Export is the topic of one of the type topic, of which nothing waits here.
	Export *Export `json:"export,omitempty"`
	// Paused says since when nothing is sent to it, by the word of a person; null: it is
	// delivered to.
	Paused *Paused `json:"paused"`
	// Due are its retries by when they are due, the earliest first: as many as there are
	// bounds, or none where none waits.
	Due []Due `json:"due"`
}

// Due is how many retries are due up to some time from now, and not up to the one before.
type Due struct {
	Within string `json:"within"` // 0s: they are due; empty: later than all others
	Events int64  `json:"events"`
}

// Paused is a pause of a destination's deliveries.
type Paused struct {
	By    string    `json:"by"` // empty: not known
	Since time.Time `json:"since"`
}

// Export is the topic that a destination is. Who reads it, and how far they are, nobody
// here knows.
type Export struct {
	Topic      string `json:"topic"`
	Partitions int    `json:"partitions"` // 0: it is not there, or may not be seen
	Events     int64  `json:"events"`     // that it holds, at most: markers of transactions are among them
}

// BusyPartition is one on which events of some users wait for one another, and for
// nobody else.
type BusyPartition struct {
	Partition int32 `json:"partition"`
	Keys      int   `json:"keys"`   // users, as the events name them
	Events    int64 `json:"events"` // of theirs, about
}

// State is what the workspace says of a destination.
type State string

// The states.
const (
	Enabled  State = "enabled"
	Disabled State = "disabled"
	Removed  State = "removed" // its topic still holds events
	OnPause  State = "paused"  // enabled, and people have its deliveries paused
)

// Failure is a reason for which events wait, with the latest words about it.
type Failure struct {
	Reason schemas.Reason `json:"reason"`
	Detail string         `json:"detail"`
	Events int64          `json:"events"`

	due time.Time
}

// Endpoint is one URL, without user and query, and how many events wait for it.
type Endpoint struct {
	URL    string `json:"url"`
	Events int64  `json:"events"`
}

// Retry is what waits on one retry topic.
type Retry struct {
	Delay   string  `json:"delay"` // as in the topic's name
	Waiting Backlog `json:"waiting"`
	Overdue int64   `json:"overdue"` // of those, due for more than a minute
	Deleted int64   `json:"deleted"` // offsets that retention deleted before their events were finished
}

// DeadLetters are those of a while.
type DeadLetters struct {
	Since  time.Time   `json:"since"`
	Bound  Bound       `json:"bound"`
	Groups []DeadGroup `json:"groups"` // ascending by destination and reason
}

// DeadGroup counts what was given up at one destination for one reason.
type DeadGroup struct {
	Destination string         `json:"destination"` // empty: it never was on the way to one
	Reason      schemas.Reason `json:"reason"`
	Events      int64          `json:"events"`
	Redriven    int64          `json:"redriven"` // of those, sent again since
	First       time.Time      `json:"first"`
	Last        time.Time      `json:"last"`
	Detail      string         `json:"detail"` // of the last
}

// Advice is one thing that is not as it should be.
type Advice struct {
	About   string `json:"about"` // a destination, a stage or a topic
	Problem string `json:"problem"`
	Do      string `json:"do"`
}
