package place

import (
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/mark"
)

// evidence is all that tells where processing of a partition goes on.
type evidence struct {
	// committed is what the group has committed, kept what its bookmark says. Nil:
	// nothing.
	committed, kept *mark.Mark
	// last is what this process knew last. Nil: nothing.
	last   *mark.Mark
	extent kafka.Extent
	// topic is the id of the topic that bears the name now; empty: not known.
	topic string
	// leaderless: nobody tells what the partition holds.
	leaderless bool
	// later is where the first record stands that is later than all that was processed by
	// the mark that counts; negative: there is none, or nobody knows.
	later int64
	// neighbours is true when the group has been somewhere on another partition, and
	// history when anything was ever processed.
	neighbours, history bool
	// told is where the setting leads; nil: nowhere.
	told *int64
}

// cause is why processing of a partition goes on where it does.
type cause int

const (
	asCommitted cause = iota
	asKept            // there is no commit, but a bookmark
	asAnew            // the topic was made anew since
	asLast            // brokers went back behind what they had confirmed to this process
	asNew             // nothing of the partition was ever processed
	asTold            // nothing is known, and the setting says it
	asDeleted         // records behind the commit are gone
	asCut             // the commit is beyond the end of the log
	notAtAll          // nothing is known: somebody has to say
	notYet            // what is known can't be held against a log without a leader
)

// beginning is where processing of a partition goes on, and what is known of it.
type beginning struct {
	mark.Mark
	from  int64 // the mark that was found
	cause cause
}

// begin decides where processing of a partition goes on. It never begins behind a
// record that may not have been processed.
func begin(e evidence) beginning {
	switch {
	case e.leaderless && e.committed != nil && !e.ofAnother(e.committed): // the client finds out, when there is a leader
		return beginning{*e.committed, e.committed.Next, asCommitted}
	case e.leaderless:
		return beginning{cause: notYet}
	case e.ofAnother(e.found()):
		return beginning{mark.Mark{Next: e.extent.Start}, e.found().Next, asAnew}
	case e.found() == nil && e.ofAnother(e.last): // offsets are deleted with their topic
		return beginning{mark.Mark{Next: e.extent.Start}, e.last.Next, asAnew}
	case e.wentBack() && (e.later < 0 || e.later >= e.last.Next):
		return beginning{*e.last, e.found().Next, asLast}
	case e.committed != nil:
		return e.goOn(*e.committed, asCommitted)
	case e.kept != nil:
		return e.goOn(*e.kept, asKept)
	// A commit is made with the first records of a partition: without one, beside
	// others that are there, none were processed.
	case e.neighbours, !e.history:
		return beginning{mark.Mark{Next: e.extent.Start}, e.extent.Start, asNew}
	case e.told != nil:
		return beginning{mark.Mark{Next: *e.told}, *e.told, asTold}
	default:
		return beginning{cause: notAtAll}
	}
}

// found is what the brokers say; nil: nothing.
func (e evidence) found() *mark.Mark {
	if e.committed != nil {
		return e.committed
	}
	return e.kept
}

// ofAnother reports whether a mark is of a topic that bore the name before. Its offset
// says nothing about the one that does now, all of which is unprocessed.
func (e evidence) ofAnother(m *mark.Mark) bool {
	return m != nil && m.Of != "" && e.topic != "" && m.Of != e.topic
}

// wentBack reports whether a mark is behind what this process knew. The marks of its kind
// go forward alone. Whoever sets offsets on purpose leaves no time stamp, and finds the
// group empty, so that what we knew is from before. The log has to hold what was
// processed, and nothing later before its end: else it is another, or has lost its tail
// and grown again.
func (e evidence) wentBack() bool {
	m := e.found()
	return m != nil && e.last != nil && !e.ofAnother(e.last) && e.last.Next > m.Next && e.last.Next <= e.extent.End && !m.Newest.IsZero() && !e.last.Newest.IsZero()
}

// goOn is where processing goes on from a mark, as far as the log holds that.
func (e evidence) goOn(m mark.Mark, c cause) beginning {
	b := beginning{m, m.Next, c}
	switch {
	case m.Next < e.extent.Start:
		b.Next, b.cause = e.extent.Start, asDeleted
	case m.Next > e.extent.End:
		// The log lost its tail, or it is that of another topic under the same name.
		// Offsets tell nothing then, and times do: what was processed is no later than
		// the newest record of it.
		b.Next, b.cause = e.extent.End, asCut
		if e.later >= 0 {
			b.Next = min(e.later, e.extent.End)
		}
	}
	return b
}
