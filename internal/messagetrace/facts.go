package messagetrace

import (
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// facts are what was found of one call. What becomes of them is decided in [facts.assemble]
// alone.
type facts struct {
	call   Call // as it came, without destinations
	key    string
	offset int64 // on raw-events; of a call that never was there, -1
	since  time.Time

	// routing is what the router made of the call; nil: the journal does not say.
	routing  *journal.Call
	routedAt time.Time
	// routed says that the router is past the call, whatever the journal says.
	routed  bool
	tries   []try
	letters []letter
	// passed are destinations of which the sink is past the event, whatever the journal
	// says.
	passed map[string]bool
	// replays are what replays sent of the call, the earliest first.
	replays []*sending
	// written says where the event stands on a topic that others read, by destination.
	written map[string]string
}

// try is what a sink says of one record of the event.
type try struct {
	journal.Attempt

	from string // topic of the record
	// object is where the stage archive has put the event, but for the day; zero: it is no
	// archive's.
	object schemas.ArchivedName
}

// letter is a dead letter of the event.
type letter struct {
	DeadLetter

	destination string
	run         string // of the replay that sent the event; empty: it was a live one
	from        schemas.Position
}

// names are what the workspace calls things.
type names interface {
	// topic is the one of a destination's events.
	topic(destination string) string
	// hosts are those of a destination's endpoints, in their order.
	hosts(destination string) []string
	// changed reports whether a destination was changed after a time.
	changed(destination string, since time.Time) bool
}
