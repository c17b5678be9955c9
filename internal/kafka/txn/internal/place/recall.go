package place

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/mark"
)

// Start is where processing begins when nobody knows what was processed: auto (wait to
// be told), first, end or a time. Variable is the name of the setting.
type Start struct{ Variable, Value string }

// The values beside a time.
const (
	startAuto  = "auto"
	startFirst = "first"
	startEnd   = "end"
)

// Time reads the value. The time is zero unless the value is one.
func (s Start) Time() (time.Time, error) {
	switch s.Value {
	case startAuto, startFirst, startEnd, "":
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, s.Value)
	if err != nil || at.IsZero() {
		return time.Time{}, fmt.Errorf("%s=%s: expected auto, first, end or a time like 2026-09-18T03:00:00Z", s.Variable, s.Value)
	}
	return at, nil
}

// recall looks for evidence of partitions without a commit.
func (f *Finder) recall(ctx context.Context, all map[kafka.Partition]evidence, extents map[string]map[int32]kafka.Extent) error {
	kept, err := f.kept(ctx)
	if err != nil {
		return err
	}
	commits, err := f.commits(ctx, f.Group)
	if err != nil {
		return err
	}
	var history bool
	neighbours := len(commits) > 0 || len(kept) > 0
	if !neighbours {
		if history, err = f.processedBefore(ctx, extents); err != nil {
			return err
		}
	}
	told := map[kafka.Partition]int64{}
	if history {
		if told, err = f.told(ctx, extents); err != nil {
			return err
		}
	}
	for p, e := range all {
		if c, ok := kept[p]; ok {
			m := mark.Read(c.Offset, c.Metadata)
			e.kept = &m
		}
		if at, ok := told[p]; ok {
			e.told = &at
		}
		e.neighbours, e.history = neighbours, history
		all[p] = e
	}
	return nil
}

// kept returns the copy of the group's offsets; nothing where we may not read it.
func (f *Finder) kept(ctx context.Context) (map[kafka.Partition]kafka.Commit, error) {
	kept, err := f.commits(ctx, f.Copy)
	if errors.Is(err, kerr.GroupAuthorizationFailed) {
		f.Log.Warn("copy of the group's offsets can't be read, processing continues without it", "group", f.Copy, "error", kafka.Advised(err))
		return nil, nil
	}
	return kept, err
}

// commits are those of a group for all sources.
func (s *Settings) commits(ctx context.Context, group string) (map[kafka.Partition]kafka.Commit, error) {
	all := make(map[kafka.Partition]kafka.Commit)
	for _, topic := range s.Sources {
		commits, err := s.Topics.Commits(ctx, group, topic)
		if err != nil {
			return nil, err
		}
		for num, c := range commits {
			all[kafka.Partition{Topic: topic, Num: num}] = c
		}
	}
	return all, nil
}

// told is where the setting leads, for all partitions; nothing where it leads
// nowhere. It is kept for all of them before it is used for some: the setting is for
// one start alone, and other processes are to know of it too.
func (f *Finder) told(ctx context.Context, extents map[string]map[int32]kafka.Extent) (map[kafka.Partition]int64, error) {
	since, err := f.Start.Time()
	if err != nil {
		return nil, err
	}
	if f.Start.Value == startAuto || f.Start.Value == "" {
		return nil, nil
	}
	// What is not told now would be taken for new beside the others, also where a leader
	// came back since the extents were looked up.
	commits := make(map[kafka.Partition]kafka.Commit)
	told := make(map[kafka.Partition]int64)
	for _, topic := range f.Sources {
		led := extents[topic]
		all, err := f.Topics.Partitions(ctx, topic)
		if err == nil && len(led) < all {
			err = fmt.Errorf("%d of %d partitions of %s have no leader, %s waits until they do", all-len(led), all, topic, f.Start.Variable)
		}
		if err != nil {
			return nil, err
		}
		var later map[int32]ranges.Range
		if !since.IsZero() {
			if later, err = ranges.List(ctx, f.Topics.Client, topic, since); err != nil {
				return nil, err
			}
		}
		for num, extent := range led {
			p := kafka.Partition{Topic: topic, Num: num}
			told[p] = f.Start.in(extent, later[num].Start)
			commits[p] = kafka.Commit{Offset: told[p]}
		}
	}
	return told, mark.CommitLasting(ctx, f.own, f.Copy, commits)
}

// in is where the setting leads in a partition, whose first record since a time has the
// offset later.
func (s Start) in(extent kafka.Extent, later int64) int64 {
	switch s.Value {
	case startFirst:
		return extent.Start
	case startEnd:
		return extent.End
	default:
		return later
	}
}
