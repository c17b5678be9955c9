package message

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
)

// Kind is what a record says.
type Kind string

// The kinds there are.
const (
	Tick    Kind = "tick"    // what time it is
	Link    Kind = "link"    // its user is another one from now on
	Merge   Kind = "merge"   // the state of a user who is this one from now on
	Forward Kind = "forward" // a call of a user who is this one from now on
	Refuse  Kind = "refuse"  // an id that its user claimed is another one's
	Raise   Kind = "raise"   // its user has to stand higher to get an id that they claimed
	Forget  Kind = "forget"  // the user that its user was merged into was deleted
	Resync  Kind = "resync"  // one destination is to be told once more of a definition
	Await   Kind = "await"   // a partition asks whether another one has filled leaves, too
	Filled  Kind = "filled"  // it has, and has passed on all calls of before
)

// MaxHops is how often a record is passed on before it is given up: more than so many
// merges in a row nobody can want.
const MaxHops = 256

// Message is one record. The key is the user whom it concerns; what is said to a partition
// has none.
type Message struct {
	Kind Kind `json:"kind"`
	// End is, of a tick, where the partition of raw-events ended when it was written.
	End int64 `json:"end,omitempty"`
	// At is, of a tick, what time it was at least by the brokers' clock when somebody asked
	// for End, in Unix milliseconds; 0: they did not know it, and the tick says only when it
	// was written, which may be long after calls were stored that End is before.
	At int64 `json:"at,omitempty"`
	// Late is, of a tick, how many milliseconds passed since somebody asked for End: so much
	// earlier than when it was written it is true.
	Late int64 `json:"late,omitempty"`
	// Target is, of a link, the user that the key's is from now on. Alias says that an
	// alias asked for it, which two users need to become one.
	Target string `json:"target,omitempty"`
	Alias  bool   `json:"alias,omitempty"`
	// From is, of a merge, the user who is no more; of a refusal, whose Target is the owner,
	// and of a raise the id that was claimed; of a forgetting the user who was deleted. The
	// path are all whose state a merge has, in the order in which it was passed on, and the
	// ids that are forgotten together.
	From string   `json:"from,omitempty"`
	Path []string `json:"path,omitempty"`
	Hops int      `json:"hops,omitempty"`
	// Rank is, of a link, that of its target, and of a raise that of the user whom the
	// claimant has to stand above.
	Rank uint64 `json:"rank,omitempty"`
	// Request is, of a forgetting, the id of the deletion request.
	Request string `json:"request,omitempty"`
	// Num is, of what one partition says to another, the one that says it.
	Num int32 `json:"num,omitempty"`
	// Leaves are, of a call, those that it is for, and else those that are meant. Live says that it comes as it was taken
	// in, and not from a backfill.
	Leaves []engine.LeafID `json:"leaves,omitempty"`
	Live   bool            `json:"live,omitempty"`
	// Fresh are, of a call or a merge, leaves that its partition is filling: who lacks one will
	// have it, and keeps the message until then, since Held, in Unix milliseconds.
	Fresh []engine.LeafID `json:"fresh,omitempty"`
	Held  int64           `json:"held,omitempty"`
	// Offset is, of a call, where it stands on its partition of raw-events.
	Offset int64 `json:"offset,omitempty"`
	// Received is when the call was taken in, or the one that was the reason, in Unix
	// milliseconds.
	Received int64 `json:"received,omitempty"`
	// Resync is what a resync is of.
	Resync *Resyncing `json:"resync,omitempty"`
	// Value is the state of a merge, or a call with its own headers.
	Value   []byte             `json:"-"`
	Headers []kgo.RecordHeader `json:"-"`
}

// Resyncing asks a partition to tell a destination once more of a definition, or to stop
// that. The same id is the same resync, however often it is asked for.
type Resyncing struct {
	ID          string `json:"id"`
	Key         string `json:"key"`
	Destination string `json:"destination"`
	Rate        int64  `json:"rate,omitempty"` // users of the partition a second
	Cancel      bool   `json:"cancel,omitempty"`
}

// The header that holds all but the value.
const keyMessage = "personas"

// Record returns the record of a message to the partition of its user.
func (m *Message) Record(partition int32, user string) *kgo.Record {
	about, err := json.Marshal(m)
	if err != nil {
		panic(err) // texts and numbers alone
	}
	rec := &kgo.Record{Topic: schemas.TopicPersonasInternal, Partition: partition, Value: m.Value}
	if user != "" {
		rec.Key = []byte(user)
	}
	rec.Headers = append(append(rec.Headers, kgo.RecordHeader{Key: keyMessage, Value: about}), m.Headers...)
	return rec
}

// ErrUnknown is the error of a record that is no message.
var ErrUnknown = errors.New("not a message of personas")

// Read reads a record.
func Read(rec *kgo.Record) (*Message, error) {
	for i, h := range rec.Headers {
		if h.Key != keyMessage {
			continue
		}
		m := new(Message)
		if err := json.Unmarshal(h.Value, m); err != nil {
			return nil, fmt.Errorf("%s[%d]@%s: %w: %w", rec.Topic, rec.Partition, strconv.FormatInt(rec.Offset, 10), ErrUnknown, err)
		}
		m.Value = rec.Value
		m.Headers = append(m.Headers, rec.Headers[:i]...)
		m.Headers = append(m.Headers, rec.Headers[i+1:]...)
		return m, nil
	}
	return nil, fmt.Errorf("%s[%d]@%d: %w", rec.Topic, rec.Partition, rec.Offset, ErrUnknown)
}
