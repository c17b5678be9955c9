package group

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

const (
	commitTime = 3 * time.Second
	// commitAgain is the pause after a commit that failed, and commitSoon that after
	// one that came at a bad moment of a rebalance.
	commitAgain = time.Second
	commitSoon  = 100 * time.Millisecond
)

// CommitLoop commits soon after something has finished, until ctx ends; while
// nothing does, it sleeps. When ctx ends it commits once more: what has finished by then
// need not wait for attempts in flight, and the first write of a journal may take longer
// than the last commit has. It does not break off a commit under way: the client
// would drop the connection, and the broker could take up that commit behind the
// last one of all, which would set the offsets back and let a clean stop repeat
// events.
func (m *Member) CommitLoop(ctx context.Context) {
	for pause := m.Every; ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case <-m.Dispatcher.Finished():
			waiting.Sleep(ctx, pause)
		}
		timed, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
		pause = m.Every
		if again := m.commit(timed, nil); again > 0 {
			pause = again
			m.Dispatcher.Tell()
		}
		cancel()
	}
}

// CommitLast commits what is left of the named partitions, or of all, until it
// succeeds or ctx ends.
func (m *Member) CommitLast(ctx context.Context, of map[string][]int32) {
	for {
		again := m.commit(ctx, of)
		if again == 0 || !waiting.Sleep(ctx, again) {
			return
		}
	}
}

// commit commits the watermarks of the named partitions, or of all. What fails is
// still dirty afterwards and goes with the next commit, which is worth trying after
// the time returned; zero means that it succeeded.
//
// Commits exclude each other from reading the watermarks to the answer. Were one
// to read them, a revocation to commit newer ones, and the first to be sent only
// then, it would take the group's offsets back on a partition that is no longer
// ours.
func (m *Member) commit(ctx context.Context, of map[string][]int32) (again time.Duration) {
	m.committing.Lock()
	defer m.committing.Unlock()
	// First of all: a session that is lost from here on leaves a generation behind
	// that the broker refuses.
	by := m.identity()
	marks := m.Dispatcher.Watermarks(of)
	if m.Journal != nil && m.Journal(ctx) != nil {
		return commitAgain
	}
	if len(marks) == 0 {
		return 0
	}
	sent := m.send(ctx, by, marks)
	for ; errors.Is(sent.err, kerr.OffsetMetadataTooLarge) && m.detail < nothing; sent = m.send(ctx, by, marks) {
		m.detail++
		m.Logger.Warn("the brokers accept less metadata with a commit than usual, so a stop will repeat some events: raise offset.metadata.max.bytes",
			"needed", offsets.MaxMetadata)
	}
	m.drop(sent.gone)
	switch err := sent.err; {
	case err == nil:
		m.Count(nil)
		m.Memory.note(marks)
		m.Dispatcher.Committed(marks)
		return 0
	case errors.Is(err, kerr.RebalanceInProgress), errors.Is(err, kerr.IllegalGeneration):
		return commitSoon // between two generations, which takes a moment
	default:
		m.Count(err)
		m.Logger.Warn("committing offsets failed, retrying", "partitions", len(marks), "error", err)
		return commitAgain
	}
}

// drop forgets topics that are gone, before anything is committed again. Under its
// name a topic may be back with the next commit: by name, what was finished of the
// old one would be committed for the new one, whose first records would never be
// delivered. A topic that one broker does not know for a moment is dropped too, which
// repeats some of its events.
func (m *Member) drop(gone map[string]error) {
	for topic, err := range gone {
		m.Dispatcher.ForgetTopic(topic)
		m.Gone(topic, err)
	}
}
