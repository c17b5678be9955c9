package router

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
)

// Bookmark is the group that holds a copy of the router's offsets. It has no members,
// and brokers are asked never to forget it.
const Bookmark = Group + "-bookmark"

// placeTime bounds the search for where partitions begin. The group waits for it.
const placeTime = 8 * time.Second

// placement decides where the partitions of one session begin. The client calls
// fetched and then place, one after the other, when it was given some.
type placement struct {
	*Router

	own       *kgo.Client
	committed map[int32]mark
}

// fetched notes what the group has committed: the client passes on the offsets
// alone.
func (p *placement) fetched(_ context.Context, own *kgo.Client, resp *kmsg.OffsetFetchResponse) error {
	p.own, p.committed = own, make(map[int32]mark)
	for _, group := range resp.Groups {
		for _, topic := range group.Topics { // raw-events: the group has no other
			for _, c := range topic.Partitions {
				if c.Offset < 0 || c.ErrorCode != 0 {
					continue
				}
				var metadata string
				if c.Metadata != nil {
					metadata = *c.Metadata
				}
				p.committed[c.Partition] = markOf(c.Offset, metadata)
			}
		}
	}
	return nil
}

// place puts each partition where its routing goes on. Those of which nobody can know
// that stay where they are, and unread, until somebody says it.
func (p *placement) place(ctx context.Context, offsets map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	ctx, cancel := context.WithTimeout(ctx, placeTime)
	defer cancel()
	all, err := p.survey(ctx, offsets[p.source])
	if err != nil {
		return nil, fmt.Errorf("look for where to begin: %w", err)
	}
	for num := range offsets[p.source] {
		b := begin(all[num])
		p.tell(num, all[num], b)
		switch b.cause {
		case notAtAll:
			delete(offsets[p.source], num)
			p.waiting.add(num)
			continue
		case notYet:
			delete(offsets[p.source], num)
			p.waiting.mute(num)
			continue
		case asCommitted: // as it is, with the epoch by which the client sees what a log has lost
		default:
			offsets[p.source][num] = kgo.NewOffset().At(b.next)
		}
		p.waiting.drop(num)
		b.of = all[num].topic
		p.marks.begin(num, b.mark)
		p.forgotten.begin(num, b.next)
		p.backlog.begin(num, b.next)
	}
	p.ready.Store(true)
	return offsets, nil
}

// survey gathers the evidence for some partitions. The usual case, a commit within
// the log, takes no more than the extents.
func (p *placement) survey(ctx context.Context, wanted map[int32]kgo.Offset) (map[int32]evidence, error) {
	extents, err := p.set.Topics.Extents(ctx, p.source)
	if err != nil {
		return nil, err
	}
	id, err := p.set.Topics.ID(ctx, p.source)
	if err != nil {
		return nil, err
	}
	all := make(map[int32]evidence, len(wanted))
	lacking := false
	for num := range wanted {
		extent, told := extents[p.source][num]
		e := evidence{extent: extent, topic: id, leaderless: !told, last: p.marks.lastOf(num), later: -1}
		if m, ok := p.committed[num]; ok {
			e.committed = &m
		}
		lacking = lacking || told && e.committed == nil
		all[num] = e
	}
	if lacking {
		if err := p.recall(ctx, all, extents[p.source]); err != nil {
			return nil, err
		}
	}
	return all, p.date(ctx, all)
}

// recall looks for evidence of partitions without a commit.
func (p *placement) recall(ctx context.Context, all map[int32]evidence, extents map[int32]kafka.Extent) error {
	kept, err := p.kept(ctx)
	if err != nil {
		return err
	}
	commits, err := p.set.Topics.Commits(ctx, Group, p.source)
	if err != nil {
		return err
	}
	var history bool
	neighbours := len(commits) > 0 || len(kept) > 0
	if !neighbours {
		if history, err = p.routedBefore(ctx, extents); err != nil {
			return err
		}
	}
	told := map[int32]int64{}
	if history {
		if told, err = p.told(ctx, extents); err != nil {
			return err
		}
	}
	for num, e := range all {
		if c, ok := kept[num]; ok {
			m := markOf(c.Offset, c.Metadata)
			e.kept = &m
		}
		if at, ok := told[num]; ok {
			e.told = &at
		}
		e.neighbours, e.history = neighbours, history
		all[num] = e
	}
	return nil
}

// kept returns the bookmarks; none where we may not read them.
func (p *placement) kept(ctx context.Context) (map[int32]kafka.Commit, error) {
	kept, err := p.set.Topics.Commits(ctx, Bookmark, p.source)
	if errors.Is(err, kerr.GroupAuthorizationFailed) {
		p.log.Warn("copy of the group's offsets can't be read, routing continues without it", "group", Bookmark, "error", kafka.Advised(err))
		return nil, nil
	}
	return kept, err
}

// told is where ROUTER_START leads, for all partitions; nothing where it leads
// nowhere. It is kept for all of them before it is used for some: the setting is for
// one start alone, and other routers are to know of it too.
func (p *placement) told(ctx context.Context, extents map[int32]kafka.Extent) (map[int32]int64, error) {
	since, err := startAt(p.cfg.Start)
	if err != nil {
		return nil, err
	}
	if p.cfg.Start == startAuto || p.cfg.Start == "" {
		return nil, nil
	}
	// Who is not told now would be taken for new beside the others.
	leaderless, err := p.set.Topics.Leaderless(ctx, p.source)
	if err == nil && len(leaderless[p.source]) > 0 {
		err = fmt.Errorf("%s%v have no leader, ROUTER_START waits until they do", p.source, leaderless[p.source])
	}
	if err != nil {
		return nil, err
	}
	told := make(map[int32]int64, len(extents))
	switch {
	case !since.IsZero():
		ranges, err := p.set.Topics.Ranges(ctx, p.source, since)
		if err != nil {
			return nil, err
		}
		for num := range extents {
			told[num] = ranges[num].Start
		}
	case p.cfg.Start == startFirst:
		for num, extent := range extents {
			told[num] = extent.Start
		}
	case p.cfg.Start == startEnd:
		for num, extent := range extents {
			told[num] = extent.End
		}
	}
	commits := make(map[int32]kafka.Commit, len(told))
	for num, at := range told {
		commits[num] = kafka.Commit{Offset: at}
	}
	return told, kafka.CommitLasting(ctx, p.own, Bookmark, p.source, commits)
}

// date looks up what is later than all that was routed, where marks are beyond the
// end of the log, or went back.
func (p *placement) date(ctx context.Context, all map[int32]evidence) error {
	times := make(map[int32]time.Time)
	for num, e := range all {
		switch m := e.mark(); {
		case e.leaderless, m == nil, e.ofAnother(m):
		case e.wentBack():
			times[num] = e.last.newest
		case m.next > e.extent.End && !m.newest.IsZero():
			times[num] = m.newest
		}
	}
	if len(times) == 0 {
		return nil
	}
	first, err := p.set.Topics.FirstAfter(ctx, p.source, times)
	if err != nil {
		return err
	}
	for num, at := range first {
		e := all[num]
		e.later = at
		all[num] = e
	}
	return nil
}

// tell logs where a partition begins, unless that is where anybody would expect it.
func (p *placement) tell(num int32, e evidence, b beginning) {
	log := p.log.With("topic", p.source, "partition", num, "begin", b.next)
	switch b.cause {
	case asCommitted, notAtAll: // the latter is said for all partitions at once
	case notYet:
		p.log.Warn("partition has no leader, it is routed when it has one", "topic", p.source, "partition", num)
	case asNew:
		log.Debug("partition was never routed, begins with its first event")
	case asKept:
		log.Warn("group has no offset for the partition, routing continues from the copy", "group", Group, "copy", Bookmark)
	case asAnew:
		if !p.marks.lost(num, b.next) {
			return // said before
		}
		log.Error("topic was deleted and created again since it was last routed: what it held unrouted is lost, routing begins with the first event of the new one", "routed_up_to", b.from)
	case asLast:
		log.Error("the brokers lost offsets of the group that they had confirmed: routing continues from where this router knows it was", "group", Group, "committed", b.from)
	case asTold:
		log.Warn("group has no offset for the partition, routing begins where ROUTER_START says", "group", Group, "start", p.cfg.Start)
	case asDeleted:
		if !p.marks.lost(num, b.next) {
			return // said before: there is no commit until something is routed
		}
		p.losses.Count(p.source, kafka.Deleted, b.next-b.from)
		log.Error("events were deleted before they were routed: raw-events has to keep them for longer than routers are away", "routed_up_to", b.from)
	case asCut:
		if !p.marks.lost(num, b.next) {
			return
		}
		p.losses.Count(p.source, kafka.Truncated, b.from-e.extent.End)
		log.Error("offset of the group is beyond the end of the log, which lost its tail or was made anew: routing begins after everything that was routed before",
			"routed_up_to", b.from, "newest_routed", b.newest, "end", e.extent.End)
	}
}
