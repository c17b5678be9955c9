package messagetrace

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
)

// Query says which calls are meant.
type Query struct {
	MessageID string
	// User is the key of the calls' records: the userId, else the anonymousId; empty: not
	// known. It makes the search many times as fast.
	User string
	// Since and Until bound when the calls were taken. Until may be in the future.
	Since, Until time.Time
}

// Find returns all that is known of the calls with a messageId. It searches the newest
// first, and ends where it has found a call that is no copy: earlier ones are looked for no
// further. A trace without calls is no error.
func Find(ctx context.Context, log *Log, q Query) (*Trace, error) {
	users := log.users(ctx)
	s := &search{Log: log, q: q, found: make(map[string]*facts)}
	trace, err := s.run(ctx)
	register, wrong := users()
	if err = errors.Join(err, wrong); err != nil {
		return nil, err
	}
	if register != nil {
		trace.judge(register, q.User)
	}
	return trace, nil
}

// judge adds what is known of the user: of the calls, or who was asked for.
func (t *Trace) judge(register *regulation.Register, user string) {
	ids := make([]string, 1+len(t.Calls))
	ids[0] = user
	for i := range t.Calls {
		ids[i+1] = t.Calls[i].User
	}
	known := func(id string) bool { return id != "" && slices.Contains(ids, id) }
	t.Suppressed = slices.ContainsFunc(ids, func(id string) bool { return id != "" && register.Suppressed.Has([]byte(id)) })
	for _, p := range register.Unfinished() {
		if work, left := register.Work(p.ID); left && slices.ContainsFunc(work.Users, known) {
			t.Deleting = append(t.Deleting, p.ID)
		}
	}
}

// search is one call of Find.
type search struct {
	*Log

	q      Query
	prints *journal.Prints
	nums   []int32 // partitions of raw-events that are searched; nil: all
	found  map[string]*facts
	seen   Searched
	notes  []string
	calls  []Call
}

func (s *search) run(ctx context.Context) (*Trace, error) {
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	if err := s.searchAll(ctx); err != nil {
		return nil, err
	}
	t := &Trace{MessageID: s.q.MessageID, Calls: s.calls, Searched: s.seen, Notes: s.notes}
	if t.Calls == nil {
		t.Calls = []Call{}
	}
	if len(t.Calls) == 0 {
		if err := s.missed(ctx, t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// prepare looks up what there is to search.
func (s *search) prepare(ctx context.Context) error {
	n, err := s.count(ctx, schemas.TopicRawEvents)
	if err != nil {
		return err
	}
	s.seen = Searched{From: s.q.Since.UTC(), To: earliest(s.q.Until, time.Now()).UTC().Truncate(time.Millisecond), Partitions: n, Of: n}
	if s.prints, err = journal.FindPrints(ctx, s.Topics); err != nil {
		return err
	}
	if s.q.User == "" {
		return nil
	}
	num, there, err := s.home(ctx, schemas.TopicRawEvents, s.q.User)
	if err == nil && there {
		s.nums, s.seen.Partitions = []int32{num}, 1
	}
	return err
}

// searchAll searches one window after the other until there is a call that is no copy.
func (s *search) searchAll(ctx context.Context) error {
	if len(s.nums) == 1 {
		if done, err := s.searchJournal(ctx); done || err != nil {
			return err
		}
		s.seen.Records = 0 // all of it is searched again
	}
	for _, w := range windows(s.q.Since, s.q.Until, s.q.MessageID, firstWindow) {
		if s.Progress != nil {
			s.Progress(w.From, s.seen.Records)
		}
		before := len(s.found)
		if err := s.look(ctx, w); err != nil {
			return err
		}
		if len(s.found) == before {
			continue
		}
		if done, err := s.tell(ctx); done || err != nil {
			s.seen.From = w.From.UTC()
			return err
		}
	}
	return nil
}

// look searches what came in a window on raw-events, and what never got there.
func (s *search) look(ctx context.Context, w window) error {
	for _, topic := range []string{schemas.TopicRawEvents, schemas.TopicDeadLetters} {
		nums := s.nums
		if topic == schemas.TopicDeadLetters && nums != nil {
			num, there, err := s.home(ctx, topic, s.q.User)
			if err != nil || !there {
				return err
			}
			nums = []int32{num}
		}
		spans, err := s.spans(ctx, topic, nums, w)
		if err != nil {
			return err
		}
		if err = s.read(ctx, spans); err != nil {
			return err
		}
	}
	return nil
}

// read takes in the calls that are on spans.
func (s *search) read(ctx context.Context, spans []*ranges.Span) error {
	for _, span := range spans {
		s.seen.Records += span.Left()
	}
	return s.scan(ctx, spans, func(r *kgo.Record) error { s.take(r); return nil }, []byte(s.q.MessageID))
}

// take takes in a record that may be one of the calls.
func (s *search) take(r *kgo.Record) {
	h, _ := kafka.HeadersOf(r) // what could be read of them
	if h.MessageID != s.q.MessageID || s.q.User != "" && string(r.Key) != s.q.User {
		return
	}
	place := schemas.Position{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset}.String()
	switch {
	case s.found[place] != nil:
	case r.Topic == schemas.TopicRawEvents:
		s.found[place] = came(r)
	case h.Reason == schemas.ReasonPlanViolation:
		s.found[place] = blocked(r)
	}
}

// tell finds out what became of the calls, and reports whether one of them is no copy.
func (s *search) tell(ctx context.Context) (original bool, err error) {
	all := make([]*facts, 0, len(s.found))
	for _, f := range s.found {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *facts) int { return a.since.Compare(b.since) })
	if s.calls, err = s.pursue(ctx, all); err != nil {
		return false, err
	}
	for i := range s.calls {
		for _, d := range s.calls[i].Destinations {
			original = original || d.Outcome != Duplicate
		}
	}
	return original, nil
}

// mostSources is of how many sources the fingerprints are looked for at once.
const mostSources = 32

// searchJournal looks for the calls of one user by their fingerprints, which the journal
// has of each call that was routed, and reports whether that has told. Calls that are not
// routed yet are on raw-events behind what the router has committed.
func (s *search) searchJournal(ctx context.Context) (done bool, err error) {
	num := s.nums[0]
	commit, err := s.commit(ctx, s.Router, schemas.TopicRawEvents, num)
	if err != nil {
		return false, err
	}
	tail, err := s.spans(ctx, schemas.TopicRawEvents, s.nums, window{s.q.Since, s.q.Until})
	if err != nil {
		return false, err
	}
	for _, span := range tail {
		span.Next = max(span.Next, commit)
	}
	if err = s.read(ctx, tail); err != nil {
		return false, err
	}
	texts := s.possible()
	n, err := s.count(ctx, schemas.TopicJournal)
	if err != nil || n == 0 || len(texts) > mostSources {
		return false, err
	}
	for _, w := range windows(s.q.Since, time.Now(), s.q.MessageID, firstWindow) {
		offsets, err := s.routed(ctx, w, num, texts, n)
		if err != nil {
			return false, err
		}
		if err = s.fetchAll(ctx, num, offsets); err != nil || len(s.found) == 0 {
			if err != nil {
				return false, err
			}
			continue
		}
		if done, err := s.tell(ctx); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// possible are the fingerprints that the call has, from whichever source it is.
func (s *search) possible() [][]byte {
	ids := []string{workspace.SourcePersonas}
	for _, source := range s.Workspace.Sources() {
		if source.ID != workspace.SourcePersonas {
			ids = append(ids, source.ID)
		}
	}
	texts := make([][]byte, len(ids))
	for i, id := range ids {
		texts[i] = s.print(id, s.q.User)
	}
	return texts
}

// print is the fingerprint of the call from a source, as it stands in the journal.
func (s *search) print(source, key string) []byte {
	rec := &kgo.Record{Key: []byte(key)}
	kafka.SetHeaders(rec, &schemas.Headers{Source: source, MessageID: s.q.MessageID})
	return binary.BigEndian.AppendUint64(nil, s.prints.Of(rec))
}

// routed are the offsets of raw-events at which the router has seen one of the
// fingerprints, as it said in a window.
func (s *search) routed(ctx context.Context, w window, num int32, texts [][]byte, partitions int) (offsets []int64, err error) {
	spans, err := s.spans(ctx, schemas.TopicJournal, []int32{num % int32(partitions)}, w)
	if err != nil {
		return nil, err
	}
	for _, span := range spans {
		s.seen.Records += span.Left()
	}
	err = s.scan(ctx, spans, func(r *kgo.Record) error {
		said := read(r)
		if said.Topic != schemas.TopicRawEvents || said.Partition != num {
			return nil
		}
		for call := range said.Calls() {
			if is(call.Fingerprint, texts) {
				offsets = append(offsets, call.Offset)
			}
		}
		return nil
	}, texts...)
	return offsets, err
}

// read is what a record of the journal says; one of a later release says nothing, and what
// is missing for it is said.
func read(r *kgo.Record) *format.Record {
	said, err := format.Decode(r.Key, r.Value)
	if err != nil {
		return new(format.Record)
	}
	return said
}

// is reports whether a fingerprint is one of some.
func is(one uint64, texts [][]byte) bool {
	return slices.ContainsFunc(texts, func(text []byte) bool { return binary.BigEndian.Uint64(text) == one })
}

// fetchAll takes in the records of raw-events at some offsets.
func (s *search) fetchAll(ctx context.Context, num int32, offsets []int64) error {
	for _, offset := range offsets {
		part, err := ranges.Fetch(ctx, s.Topics.Client, schemas.TopicRawEvents, num, offset, 1)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(part.Records, func(r *kgo.Record) bool { return r.Offset == offset }); i >= 0 {
			s.take(part.Records[i])
		} else {
			s.notes = append(s.notes, fmt.Sprintf("the call was routed from %s[%d]@%d, which raw-events no longer holds", schemas.TopicRawEvents, num, offset))
		}
	}
	return nil
}

// commit is up to where a group has processed a partition; zero: nothing of it.
func (s *search) commit(ctx context.Context, group, topic string, num int32) (int64, error) {
	commits, err := s.Topics.Commits(ctx, group, topic)
	return commits[num].Offset, err
}

// missed says what can't be known when nothing was found.
func (s *search) missed(ctx context.Context, t *Trace) error {
	begins, err := s.beginning(ctx, schemas.TopicRawEvents, s.nums)
	if err != nil {
		return err
	}
	if begins.After(s.q.Since) {
		t.Notes = append(t.Notes, fmt.Sprintf("raw-events goes back to %s: retention has deleted what came before, so whether there was such a call then can't be known", begins.Format(moment)))
	}
	return nil
}
