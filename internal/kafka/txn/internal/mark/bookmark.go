package mark

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/topics"
)

// Input are the topics that are processed, and the group that reads them.
type Input struct {
	Log    *slog.Logger
	Kafka  []kgo.Opt // what every client of the process shares
	Topics *topics.Admin

	Sources []string
	Group   string
	Copy    string // a group without members that holds a copy of the group's offsets
}

// Bookmark is a copy of a group's offsets in a group without members, which brokers are
// asked never to forget. What it lacks is processed for a second time should the group
// lose its offsets, and at no other time.
type Bookmark struct {
	Input

	Marks   *Marks
	failing atomic.Bool // the log knows
}

// Write brings the copy up to date. What can't be kept now is tried again with the next.
func (b *Bookmark) Write(ctx context.Context, client *kgo.Client) {
	commits := b.Marks.Unkept()
	err := CommitLasting(ctx, client, b.Copy, commits)
	if err == nil {
		b.failing.Store(b.failing.Load() && len(commits) == 0)
		return
	}
	b.Marks.Again(commits)
	if ctx.Err() == nil && b.failing.CompareAndSwap(false, true) {
		b.Log.Warn("copy of the group's offsets can't be written, processing continues without it, retrying", "group", b.Copy, "error", kafka.Advised(err))
	}
}

// lastingCommits is the last version of a commit that may say how long the broker
// has to remember it; those of later versions are forgotten with their group, seven
// days after its last member has left (offsets.retention.minutes).
const lastingCommits = 4

// LastingVersions are those of the protocol that the client of [CommitLasting] may
// speak.
func LastingVersions() *kversion.Versions {
	v := kversion.Stable()
	v.SetMaxKeyVersion(kmsg.OffsetCommit.Int16(), lastingCommits)
	return v
}

// lasting is how long a lasting commit is to be remembered: the brokers add it to
// the present time, which must not overflow.
const lasting = math.MaxInt64 / 4

// CommitLasting commits offsets for a group that has no members, and asks the broker
// to keep them until their topic is deleted, or the group. The client has to be limited
// to [LastingVersions]. A broker that does not offer to remember some offsets for
// longer than others forgets these with the rest.
func CommitLasting(ctx context.Context, client *kgo.Client, group string, commits map[kafka.Partition]kafka.Commit) error {
	if len(commits) == 0 {
		return nil
	}
	byTopic := make(map[string][]kmsg.OffsetCommitRequestTopicPartition)
	for of, c := range commits {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.Metadata = of.Num, c.Offset, &c.Metadata
		byTopic[of.Topic] = append(byTopic[of.Topic], p)
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation, req.RetentionTimeMillis = group, -1, lasting
	for topic, partitions := range byTopic {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic, t.Partitions = topic, partitions
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return fmt.Errorf("commit offsets of group %s: %w", group, err)
	}
	var errs []error
	for _, answered := range resp.Topics {
		for _, p := range answered.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				errs = append(errs, fmt.Errorf("commit %s[%d] of group %s: %w", answered.Topic, p.Partition, group, err))
			}
		}
	}
	return errors.Join(errs...)
}
