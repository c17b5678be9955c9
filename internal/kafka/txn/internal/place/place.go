// Package place decides where the processing of partitions begins, by the best evidence
// that there is. Package runner has the tests that are named here.
//
// A process that loses its place processes up to a whole topic again, or none of what
// came while it was away. Brokers lose it: they forget the offsets of a
// group seven days after its last member has left (offsets.retention.minutes), people
// delete groups, and a log that lost its tail in a power failure ends before them. So
// it is decided, as partitions are assigned, by the best evidence:
//
//   - The group's offset, where the log holds it. Brokers may go back behind what they
//     had confirmed: Apache Kafka 4.3.0 did once in 33 crashes, by a quarter of an hour,
//     though its log held the later commits. So a process that lives knows how far it was,
//     and goes on there if the mark that it finds is one of its kind, which go forward
//     alone, and the log is the same. Offsets that were set by hand carry no mark
//     (TestOffsetsThatWentBack).
//   - Else its copy in a group without members, which brokers are asked to keep for ever.
//     It is written every ten seconds and at an orderly stop. What a killed process had
//     processed since is processed again if the group's offsets are lost too, and only then
//     (TestAGroupWithoutItsOffsetsGoesOnAtTheirCopy).
//   - A commit of a topic that bore the name before tells nothing of the one that bears
//     it now, which is processed from its first record. So commits say of which topic they
//     are: brokers delete a group's with the topic, and the last copy of them, which is
//     made as a session ends, counted for the new one, whose first records were
//     passed over without a word (TestATopicMadeAnewThatHasGrown).
//   - An offset beyond the end of the log tells nothing: what was processed may be gone
//     from it, and other records may have come since, in what is left of the log or, where
//     brokers know no ids of topics, in one that was made anew. Each commit says how late
//     the newest record is that was processed; the first later one is where processing goes
//     on, or the end where there is none, and where an earlier release has made the commit
//     (TestAnOffsetBeyondTheEndGoesOnBehindIt).
//   - A partition without any offset beside others that have one was never processed, for
//     a commit comes with its first records (TestTheFirstEventsOfAPartitionAreRouted).
//   - Where no partition has one, an installation is new unless an output
//     holds a committed record, or has deleted some. That such a topic ends beyond its
//     first offset is no proof: the very first transaction may have been aborted
//     (TestANewInstallationBeginsWithTheFirstEvent).
//   - A first source that holds nothing, or nothing that is not later than all that the
//     outputs have got, was made anew, for more partitions perhaps
//     (TestATopicMadeAnewWhileNoRouterRuns).
//   - Otherwise nobody knows what was processed. What the outputs hold does not
//     tell: it is kept for a shorter time than the offsets. To go on would lose records
//     or double them by the million, so the process waits, is not ready, and says what to
//     set ([Start]). Whichever process is told keeps that for all partitions first,
//     and the others follow it (TestNothingIsKnown).
//
// A partition without a leader tells nothing to hold against what is known. With a
// commit it is left to the client, which reports what does not fit once there is a
// leader; without one it is not read until then; and the others are processed meanwhile
// (TestAPartitionOfRawEventsWithoutALeader). What the setting says waits for all leaders,
// since a partition that it left out would be taken for one that was never processed
// (TestROUTERSTARTIsForAllPartitions).
package place

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/mark"
)

// searchTime bounds the search for where partitions begin. The group waits for it.
const searchTime = 8 * time.Second

// Settings are what a search works with.
type Settings struct {
	mark.Input

	Losses  *groups.Losses
	Outputs string // how the names of topics begin whose records show that anything was ever processed
	Start   Start
	Marks   *mark.Marks
	Waiting *Waiting
}

// Finder looks for where the partitions of one session begin. The client calls Fetched
// and then Find, one after the other, when it was given some.
type Finder struct {
	Settings

	own       *kgo.Client
	committed map[kafka.Partition]mark.Mark
}

// Fetched notes what the group has committed: the client passes on the offsets
// alone. It is a [kgo.OnOffsetsFetched].
func (f *Finder) Fetched(_ context.Context, own *kgo.Client, resp *kmsg.OffsetFetchResponse) error {
	f.own, f.committed = own, make(map[kafka.Partition]mark.Mark)
	// The session's own client is asked from here on: what it reads is of the topic whose
	// id it knows. Another may still know one that was deleted a moment ago.
	f.Topics = topics.New(own, policy.Config{})
	for _, group := range resp.Groups {
		for _, topic := range group.Topics {
			for _, c := range topic.Partitions {
				if c.Offset < 0 || c.ErrorCode != 0 {
					continue
				}
				var metadata string
				if c.Metadata != nil {
					metadata = *c.Metadata
				}
				f.committed[kafka.Partition{Topic: topic.Topic, Num: c.Partition}] = mark.Read(c.Offset, metadata)
			}
		}
	}
	return nil
}

// Place is where the processing of a partition begins.
type Place struct {
	mark.Mark

	// Committed says that the group has an offset of the partition, which is Found. Next is
	// another one where the log does not go on from there.
	Committed bool
	Found     int64
}

// Find puts each partition where its processing goes on, and returns that. Those of
// which nobody can know it are taken out, and stay unread until somebody says it.
func (f *Finder) Find(ctx context.Context, offsets map[string]map[int32]kgo.Offset) (map[kafka.Partition]Place, error) {
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	all, err := f.survey(ctx, offsets)
	if err != nil {
		return nil, fmt.Errorf("look for where to begin: %w", err)
	}
	begun := make(map[kafka.Partition]Place, len(all))
	for p, e := range all {
		b := begin(e)
		f.tell(p, e, b)
		switch b.cause {
		case notAtAll:
			delete(offsets[p.Topic], p.Num)
			f.Waiting.add(p, false)
			continue
		case notYet:
			delete(offsets[p.Topic], p.Num)
			f.Waiting.add(p, true)
			continue
		case asCommitted: // as it is, with the epoch by which the client sees what a log has lost
		default:
			offsets[p.Topic][p.Num] = kgo.NewOffset().At(b.Next)
		}
		f.Waiting.Drop(p)
		b.Of = e.topic
		begun[p] = Place{b.Mark, e.committed != nil, b.from}
	}
	return begun, nil
}

// survey gathers the evidence for some partitions. The usual case, a commit within
// the log, takes no more than the extents.
func (f *Finder) survey(ctx context.Context, wanted map[string]map[int32]kgo.Offset) (map[kafka.Partition]evidence, error) {
	extents, err := f.Topics.Extents(ctx, f.Sources...)
	if err != nil {
		return nil, err
	}
	all := make(map[kafka.Partition]evidence)
	lacking := false
	for topic, partitions := range wanted {
		id, err := f.Topics.ID(ctx, topic)
		if err != nil {
			return nil, err
		}
		for num := range partitions {
			p := kafka.Partition{Topic: topic, Num: num}
			extent, told := extents[topic][num]
			e := evidence{extent: extent, topic: id, leaderless: !told, last: f.Marks.LastOf(p), later: -1}
			if m, ok := f.committed[p]; ok {
				e.committed = &m
			}
			lacking = lacking || told && e.committed == nil
			all[p] = e
		}
	}
	if lacking {
		if err := f.recall(ctx, all, extents); err != nil {
			return nil, err
		}
	}
	return all, f.date(ctx, all)
}

// date looks up what is later than all that was processed, where marks are beyond the
// end of the log, or went back.
func (f *Finder) date(ctx context.Context, all map[kafka.Partition]evidence) error {
	times := make(map[string]map[int32]time.Time)
	at := func(p kafka.Partition, newest time.Time) {
		if times[p.Topic] == nil {
			times[p.Topic] = make(map[int32]time.Time)
		}
		times[p.Topic][p.Num] = newest
	}
	for p, e := range all {
		switch m := e.found(); {
		case e.leaderless, m == nil, e.ofAnother(m):
		case e.wentBack():
			at(p, e.last.Newest)
		case m.Next > e.extent.End && !m.Newest.IsZero():
			at(p, m.Newest)
		}
	}
	for topic, of := range times {
		first, err := f.Topics.FirstAfter(ctx, topic, of)
		if err != nil {
			return err
		}
		for num, later := range first {
			p := kafka.Partition{Topic: topic, Num: num}
			e := all[p]
			e.later = later
			all[p] = e
		}
	}
	return nil
}

// tell logs where a partition begins, unless that is where anybody would expect it.
// What a log has lost is said once: there is no commit until something is processed.
func (f *Finder) tell(p kafka.Partition, e evidence, b beginning) {
	log := f.Log.With("topic", p.Topic, "partition", p.Num, "begin", b.Next)
	switch b.cause {
	case asCommitted, notAtAll: // the latter is said for all partitions at once
	case notYet:
		f.Log.Warn("partition has no leader, it is processed when it has one", "topic", p.Topic, "partition", p.Num)
	case asNew:
		log.Debug("partition was never processed, beginning with its first event")
	case asKept:
		log.Warn("group has no offset for the partition, processing continues from the copy", "group", f.Group, "copy", f.Copy)
	case asLast:
		log.Error("the brokers lost offsets of the group that they had confirmed: processing continues from the position that this process knows", "group", f.Group, "committed", b.from)
	case asTold:
		log.Warn("group has no offset for the partition, processing begins where the setting says", "group", f.Group, "setting", f.Start.Variable, "value", f.Start.Value)
	case asAnew, asDeleted, asCut:
		if f.Marks.Lost(p, b.Next) {
			f.tellLoss(log, p.Topic, e, b)
		}
	}
}

func (f *Finder) tellLoss(log *slog.Logger, topic string, e evidence, b beginning) {
	switch b.cause {
	case asAnew:
		log.Error("topic was deleted and created again since it was last processed: what it held unprocessed is lost, processing begins with the first event of the new one", "processed_up_to", b.from)
	case asDeleted:
		f.Losses.Count(topic, groups.Deleted, b.Next-b.from)
		log.Error("events were deleted before they were processed: the topic has to keep them for longer than all processes of the group are away", "processed_up_to", b.from)
	default: // asCut
		f.Losses.Count(topic, groups.Truncated, b.from-e.extent.End)
		log.Error("offset of the group is beyond the end of the log, which lost its tail or was recreated: processing begins after everything that was processed before",
			"processed_up_to", b.from, "newest_processed", b.Newest, "end", e.extent.End)
	}
}
