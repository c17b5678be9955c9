package router

import (
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
)

// The values of ROUTER_START beside a time.
const (
	startAuto  = "auto"
	startFirst = "first"
	startEnd   = "end"
)

// startAt reads ROUTER_START. The time is zero unless the value is one.
func startAt(value string) (time.Time, error) {
	switch value {
	case startAuto, startFirst, startEnd, "":
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil || at.IsZero() {
		return time.Time{}, fmt.Errorf("ROUTER_START=%s: expected auto, first, end or a time like 2026-09-18T03:00:00Z", value)
	}
	return at, nil
}

// evidence is all that tells where routing of a partition goes on.
type evidence struct {
	// committed is what the group has committed, kept what its bookmark says. Nil:
	// nothing.
	committed, kept *mark
	// last is what this process knew last. Nil: nothing.
	last   *mark
	extent kafka.Extent
	// topic is the id of the topic that bears the name now; empty: not known.
	topic string
	// leaderless: nobody tells what the partition holds.
	leaderless bool
	// later is where the first record stands that is later than all that was routed by
	// the mark that counts; negative: there is none, or nobody knows.
	later int64
	// neighbours is true when the group has been somewhere on another partition, and
	// history when anything was ever routed.
	neighbours, history bool
	// told is where ROUTER_START leads; nil: nowhere.
	told *int64
}

// cause is why routing of a partition goes on where it does.
type cause int

const (
	asCommitted cause = iota
	asKept            // there is no commit, but a bookmark
	asAnew            // the topic was made anew since
	asLast            // brokers went back behind what they had confirmed to this process
	asNew             // nothing of the partition was ever routed
	asTold            // nothing is known, and ROUTER_START says it
	asDeleted         // events behind the commit are gone
	asCut             // the commit is beyond the end of the log
	notAtAll          // nothing is known: somebody has to say
	notYet            // what is known can't be held against a log without a leader
)

// beginning is where routing of a partition goes on, and what is known of it.
type beginning struct {
	mark
	from  int64 // the mark that was found
	cause cause
}

// begin decides where routing of a partition goes on. It never begins behind an
// event that may not have been routed.
func begin(e evidence) beginning {
	switch {
	case e.leaderless && e.committed != nil && !e.ofAnother(e.committed): // the client finds out, when there is a leader
		return beginning{*e.committed, e.committed.next, asCommitted}
	case e.leaderless:
		return beginning{cause: notYet}
	case e.ofAnother(e.mark()):
		return beginning{mark{next: e.extent.Start}, e.mark().next, asAnew}
	case e.mark() == nil && e.ofAnother(e.last): // offsets are deleted with their topic
		return beginning{mark{next: e.extent.Start}, e.last.next, asAnew}
	case e.wentBack() && (e.later < 0 || e.later >= e.last.next):
		return beginning{*e.last, e.mark().next, asLast}
	case e.committed != nil:
		return e.goOn(*e.committed, asCommitted)
	case e.kept != nil:
		return e.goOn(*e.kept, asKept)
	// A commit is made with the first events of a partition: without one, beside
	// others that are there, none were routed.
	case e.neighbours, !e.history:
		return beginning{mark{next: e.extent.Start}, e.extent.Start, asNew}
	case e.told != nil:
		return beginning{mark{next: *e.told}, *e.told, asTold}
	default:
		return beginning{cause: notAtAll}
	}
}

// mark is what the brokers say; nil: nothing.
func (e evidence) mark() *mark {
	if e.committed != nil {
		return e.committed
	}
	return e.kept
}

// ofAnother reports whether a mark is of a topic that bore the name before. Its offset
// says nothing about the one that does now, all of which is unrouted.
func (e evidence) ofAnother(m *mark) bool {
	return m != nil && m.of != "" && e.topic != "" && m.of != e.topic
}

// wentBack reports whether a mark of routers is behind what this process knew. Routers
// go forward alone. Whoever sets offsets on purpose leaves no time stamp, and finds the
// group empty, so that what we knew is from before. The log has to hold what was
// routed, and nothing later before its end: else it is another, or has lost its tail
// and grown again.
func (e evidence) wentBack() bool {
	m := e.mark()
	return m != nil && e.last != nil && !e.ofAnother(e.last) && e.last.next > m.next && e.last.next <= e.extent.End && !m.newest.IsZero() && !e.last.newest.IsZero()
}

// goOn is where routing goes on from a mark, as far as the log holds that.
func (e evidence) goOn(m mark, c cause) beginning {
	b := beginning{m, m.next, c}
	switch {
	case m.next < e.extent.Start:
		b.next, b.cause = e.extent.Start, asDeleted
	case m.next > e.extent.End:
		// The log lost its tail, or it is that of another topic under the same name.
		// Offsets tell nothing then, and times do: what was routed is no later than
		// the newest event of it.
		b.next, b.cause = e.extent.End, asCut
		if e.later >= 0 {
			b.next = min(e.later, e.extent.End)
		}
	}
	return b
}
