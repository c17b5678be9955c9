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
func (f *Finder) recall(ctx context.Context, all map[int32]evidence, extents map[int32]kafka.Extent) error {
	kept, err := f.kept(ctx)
	if err != nil {
		return err
	}
	commits, err := f.Topics.Commits(ctx, f.Group, f.Source)
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
	told := map[int32]int64{}
	if history {
		if told, err = f.told(ctx, extents); err != nil {
			return err
		}
	}
	for num, e := range all {
		if c, ok := kept[num]; ok {
			m := mark.Read(c.Offset, c.Metadata)
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

// kept returns the copy of the group's offsets; nothing where we may not read it.
func (f *Finder) kept(ctx context.Context) (map[int32]kafka.Commit, error) {
	kept, err := f.Topics.Commits(ctx, f.Copy, f.Source)
	if errors.Is(err, kerr.GroupAuthorizationFailed) {
		f.Log.Warn("copy of the group's offsets can't be read, processing continues without it", "group", f.Copy, "error", kafka.Advised(err))
		return nil, nil
	}
	return kept, err
}

// told is where the setting leads, for all partitions; nothing where it leads
// nowhere. It is kept for all of them before it is used for some: the setting is for
// one start alone, and other processes are to know of it too.
func (f *Finder) told(ctx context.Context, extents map[int32]kafka.Extent) (map[int32]int64, error) {
	since, err := f.Start.Time()
	if err != nil {
		return nil, err
	}
	if f.Start.Value == startAuto || f.Start.Value == "" {
		return nil, nil
	}
	// What is not told now would be taken for new beside the others, also where a leader
	// came back since the extents were looked up.
	all, err := f.Topics.Partitions(ctx, f.Source)
	if err == nil && len(extents) < all {
		err = fmt.Errorf("%d of %d partitions of %s have no leader, %s waits until they do", all-len(extents), all, f.Source, f.Start.Variable)
	}
	if err != nil {
		return nil, err
	}
	var later map[int32]ranges.Range
	if !since.IsZero() {
		if later, err = ranges.List(ctx, f.Topics.Client, f.Source, since); err != nil {
			return nil, err
		}
	}
	told, commits := make(map[int32]int64, len(extents)), make(map[int32]kafka.Commit, len(extents))
	for num, extent := range extents {
		switch f.Start.Value {
		case startFirst:
			told[num] = extent.Start
		case startEnd:
			told[num] = extent.End
		default:
			told[num] = later[num].Start
		}
		commits[num] = kafka.Commit{Offset: told[num]}
	}
	return told, mark.CommitLasting(ctx, f.own, f.Copy, f.Source, commits)
}
