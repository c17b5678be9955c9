package replay

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// UsualRate is what a run sends without --rate, in events a second to each destination.
	UsualRate = 500
	// MaxRate bounds --rate.
	MaxRate = 50_000
)

// Wish is what operators want of a run.
type Wish string

// The wishes, a closed set. A run that is cancelled stays so.
const (
	Running   Wish = "running"
	Paused    Wish = "paused"
	Cancelled Wish = "cancelled"
)

// Choice says which of the events of a time are meant: those that fulfil all that is set.
// The zero value is all of them.
type Choice struct {
	Source      string       `json:"source,omitempty"`
	Destination string       `json:"destination,omitempty"`
	Type        schemas.Type `json:"type,omitempty"`
	Event       string       `json:"event,omitempty"`
	User        string       `json:"user,omitempty"`
	// Missing narrows them to those that a destination was not sent then.
	Missing bool `json:"missing,omitempty"`
}

// Validate reports what no event can fulfil, by the flags that say it.
func (c *Choice) Validate() error {
	var errs []error
	for _, id := range []struct{ flag, value, of string }{{"source", c.Source, "a source"}, {"destination", c.Destination, "a destination"}} {
		if id.value != "" && !schemas.ValidID(id.value) {
			errs = append(errs, fmt.Errorf("--%s=%s: expected the id of %s, 1 to %d lower-case letters, digits and hyphens", id.flag, id.value, id.of, schemas.MaxIDBytes))
		}
	}
	if c.Type != "" && !slices.Contains(kinds(), c.Type) {
		errs = append(errs, fmt.Errorf("--type=%s: expected one of %v", c.Type, kinds()))
	}
	if c.Event != "" && c.Type != "" && c.Type != schemas.TypeTrack {
		errs = append(errs, fmt.Errorf("--event=%s --type=%s: only calls of type track have an event", c.Event, c.Type))
	}
	return errors.Join(errs...)
}

// kinds are the types of what is replayed. Deletion requests are not repeated.
func kinds() []schemas.Type {
	return []schemas.Type{schemas.TypeIdentify, schemas.TypeTrack, schemas.TypePage, schemas.TypeScreen, schemas.TypeGroup, schemas.TypeAlias}
}

// Run is what operators have asked for; the key of its record is run/<id>. Operators alone
// write it, and whoever carries it out writes [Part].
type Run struct {
	ID           string    `json:"-"`
	Wish         Wish      `json:"wish"`
	Rate         int       `json:"rate"` // events a second to each destination, 1 to MaxRate
	Choice       Choice    `json:"choice"`
	Destinations []string  `json:"destinations"` // in ascending order
	From         time.Time `json:"from"`         // receipt: From <= t < To
	To           time.Time `json:"to"`
	// Ranges are the offsets of raw-events that the time comes to, by partition, and TopicID
	// says of which topic of that name; empty where brokers know no ids.
	Ranges  map[int32]Offsets `json:"ranges"`
	TopicID string            `json:"topicId,omitempty"`
	// Archive has the events, where they are not those of raw-events. TopicID is that of the
	// archived topic then, and Ranges are places in its objects.
	Archive   *Archive  `json:"archive,omitempty"`
	Version   int       `json:"version,omitempty"` // of the record: archivedVersion with an archive
	CreatedAt time.Time `json:"createdAt"`
	ChangedAt time.Time `json:"changedAt"`
}

// Archive is one whose events are sent once more, and which of its objects they are in.
type Archive struct {
	Destination string `json:"destination"`
	Place       string `json:"place"` // for people
	Objects     int    `json:"objects"`
	Digest      string `json:"digest"` // of their names
	// Ends are the offsets at which the last objects of partitions end.
	Ends map[int32]int64 `json:"ends"`
}

// archivedVersion is that of runs whose events are an archive's: a router that does not know
// them would take their ranges for raw-events'.
const archivedVersion = 2

// Offsets go from From up to To, To excluded.
type Offsets struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// NewID returns an id for a run: runs sort by it in the order of their making.
func NewID(now time.Time) string {
	return now.UTC().Format("20060102-150405-") + strings.ToLower(rand.Text()[:6])
}

// Events is how many offsets the run reads for each destination.
func (r *Run) Events() (n int64) {
	for _, o := range r.Ranges {
		n += o.To - o.From
	}
	return n
}

// spans are the ranges to be read.
func (r *Run) spans() []*ranges.Span {
	all := make(map[int32]ranges.Range, len(r.Ranges))
	for num, o := range r.Ranges {
		all[num] = ranges.Range{Start: o.From, End: o.To}
	}
	return ranges.Spans(schemas.TopicRawEvents, all)
}

// State is where a part of a run is.
type State string

// The states of parts, a closed set.
const (
	Open      State = "open"
	Done      State = "done"
	Abandoned State = "cancelled"
)

// Part is how far a run is with one destination; the key of its record is
// part/<run>/<destination>. It is written in the transaction of the events that it counts.
type Part struct {
	State State            `json:"state"`
	Next  map[int32]int64  `json:"next"` // the offset to read next, by partition
	Sent  int64            `json:"sent"`
	Left  map[Reason]int64 `json:"left,omitempty"` // what was left out
	Note  string           `json:"note,omitempty"` // why it came to its end, where nobody asked for it
	Begun time.Time        `json:"begun"`
	// ActiveMs is for how long it has been under way, pauses left out.
	ActiveMs int64     `json:"activeMs"`
	Updated  time.Time `json:"updated"`
}

// newPart is the part of a run of which nothing is done.
func newPart(r *Run, now time.Time) *Part {
	p := &Part{State: Open, Next: make(map[int32]int64, len(r.Ranges)), Left: make(map[Reason]int64), Begun: now, Updated: now}
	for num, o := range r.Ranges {
		p.Next[num] = o.From
	}
	return p
}

// clone is a part of the same content.
func (p *Part) clone() *Part {
	c := *p
	c.Next, c.Left = maps.Clone(p.Next), maps.Clone(p.Left)
	if c.Left == nil {
		c.Left = make(map[Reason]int64)
	}
	return &c
}

// left is how many offsets are still to be read.
func (p *Part) left(r *Run) (n int64) {
	for num, o := range r.Ranges {
		n += max(o.To-p.Next[num], 0)
	}
	return n
}

// Claim says who carries a run out; the key of its record is claim/<run>.
type Claim struct {
	Token string    `json:"token"` // empty: nobody any more
	At    time.Time `json:"at"`
	// Trouble is what keeps the run from getting on, for people; by destination.
	Trouble map[string]string `json:"trouble,omitempty"`
}

// The kinds of records.
const (
	kindRun   = "run"
	kindPart  = "part"
	kindClaim = "claim"
	kindPlan  = "plan"
)

// record is the record of a value.
func record(value any, key ...string) (*kgo.Record, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode %s of %s: %w", strings.Join(key, "/"), schemas.TopicReplays, err)
	}
	return &kgo.Record{Topic: schemas.TopicReplays, Key: []byte(strings.Join(key, "/")), Value: text}, nil
}
